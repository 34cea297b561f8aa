//! What proofs keep beside the log: the tree, which is a cache, and the last checkpoint that was signed,
//! which is not. Neither holds any text.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use quipu_log::{MerkleTree, TreeHead};
use quipu_wire::{Hash, json::canon};
use serde::{Deserialize, Serialize};

const TREE: &str = "tree";
const SIGNED: &str = "signed";
const PART: &str = "part";
const TREE_MAGIC: &[u8] = b"quipu-tree 1\n";

#[derive(Debug, Clone)]
pub(crate) struct ProofDir(PathBuf);

/// A tree, and the hash of the last commit in it: that commit's chain covers all others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedTree {
    pub(crate) last: Hash,
    pub(crate) tree: MerkleTree,
}

impl ProofDir {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is, for people.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The tree that was saved last, if it is there and whole.
    pub(crate) fn tree(&self) -> Option<SavedTree> {
        let bytes = fs::read(self.0.join(TREE)).ok()?;
        let rest = bytes.strip_prefix(TREE_MAGIC)?;
        let (hash, tree) = rest.split_at_checked(Hash::of(b"").as_bytes().len())?;
        // Only a cache: what is damaged or of another version is built anew.
        (Hash::of(tree).as_bytes().as_slice() == hash).then(|| postcard::from_bytes(tree).ok())?
    }

    /// Saves the tree in place of the one before.
    pub(crate) fn save_tree(&self, saved: &SavedTree) -> io::Result<()> {
        let tree = postcard::to_stdvec(saved).map_err(io::Error::other)?;
        let hash = Hash::of(&tree);
        self.write(TREE, &[TREE_MAGIC, hash.as_bytes().as_slice(), &tree].concat())
    }

    pub(crate) fn signed(&self) -> io::Result<Option<TreeHead>> {
        let invalid = |error: &dyn std::error::Error| {
            io::Error::new(io::ErrorKind::InvalidData, error.to_string())
        };
        match fs::read(self.0.join(SIGNED)) {
            Ok(bytes) => {
                let value = canon::parse(&bytes).map_err(|error| invalid(&error))?;
                TreeHead::deserialize(value).map(Some).map_err(|error| invalid(&error))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Remembers what is about to be signed. It is on stable storage when this returns.
    pub(crate) fn save_signed(&self, head: &TreeHead) -> io::Result<()> {
        let mut text = canon::to_string(head).map_err(io::Error::other)?;
        text.push('\n');
        self.write(SIGNED, text.as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&self.0)?;
        let (path, part) = (self.0.join(name), self.0.join(name).with_extension(PART));
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        File::open(&self.0)?.sync_all()
    }
}
