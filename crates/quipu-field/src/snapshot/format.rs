//! Snapshots of the state and the index: a cache beside the log, so that opening reads only its tail.
//! A snapshot that is damaged, foreign, or not of this log is passed over, never trusted; all of them
//! can be deleted at any time.
//!
//! ```text
//!   <position, 20 digits>.snap = magic | postcard Preface | state | index
//! ```

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use quipu_log::Head;
use quipu_recall::Index;
use quipu_wire::Hash;
use serde::{Deserialize, Serialize};

use crate::read::view::Published;
use quipu_core::State;

const MAGIC: &[u8] = b"quipu-snapshot 7\n";
/// What earlier versions wrote. Nobody reads it any more, and it is no damage.
const OLDER: [&[u8]; 6] = [
    b"quipu-snapshot 1\n",
    b"quipu-snapshot 2\n",
    b"quipu-snapshot 3\n",
    b"quipu-snapshot 4\n",
    b"quipu-snapshot 5\n",
    b"quipu-snapshot 6\n",
];
const EXTENSION: &str = "snap";
const PART: &str = "part";

/// What a snapshot says of itself before its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Preface {
    position: u64,
    epoch: u64,
    head: Hash,
    state_bytes: u64,
    state_hash: Hash,
    index_bytes: u64,
    index_hash: Hash,
}

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("cannot access {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is of an earlier version")]
    Older { path: PathBuf },
    #[error("{path} is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
}

#[derive(Debug, Clone)]
pub struct SnapshotDir {
    path: PathBuf,
}

impl SnapshotDir {
    /// The snapshots in a directory, which is made when the first one is saved.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The files that look like snapshots, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
            .collect();
        files.sort();
        files.reverse();
        files
    }

    /// Removes what an interrupted save left: it holds words of units too.
    pub fn remove_parts(&self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == PART) {
                fs::remove_file(path).ok();
            }
        }
    }

    /// Saves a snapshot durably and deletes the older ones.
    pub fn save(&self, published: &Published) -> Result<PathBuf, SnapshotError> {
        let path = self.path.join(format!("{:020}.{EXTENSION}", published.head.position));
        let part = path.with_extension(PART);
        let written = self.write(published, &part, &path);
        self.remove_parts();
        written.map_err(|source| SnapshotError::Io { path: path.clone(), source })?;
        for older in self.list().into_iter().filter(|file| *file != path) {
            // Only a cache: what cannot be deleted now is deleted after the next one.
            fs::remove_file(&older).ok();
        }
        Ok(path)
    }

    /// Takes over the bytes of a snapshot that another node made.
    pub(crate) fn adopt(&self, position: u64, bytes: &[u8]) -> Result<PathBuf, SnapshotError> {
        let path = self.path.join(format!("{position:020}.{EXTENSION}"));
        let part = path.with_extension(PART);
        let written = fs::create_dir_all(&self.path).and_then(|()| {
            let mut file = create_private(&part)?;
            file.write_all(bytes)?;
            self.settle(&file, &part, &path)
        });
        self.remove_parts();
        written.map_err(|source| SnapshotError::Io { path: path.clone(), source })?;
        Ok(path)
    }

    /// The position of the newest file that looks like a snapshot; 0 where there is none.
    pub(crate) fn newest(&self) -> u64 {
        let of = |path: &PathBuf| path.file_stem()?.to_str()?.parse().ok();
        self.list().iter().filter_map(of).max().unwrap_or(0)
    }

    /// Deletes every snapshot of an earlier position than this, and what an interrupted save left: they
    /// hold words of units that were purged since.
    pub fn discard_before(&self, position: u64) -> Result<(), SnapshotError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| SnapshotError::Io { path, source }
        };
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(io(&self.path))?,
        };
        for entry in entries {
            let path = entry.map_err(io(&self.path))?.path();
            let of = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
            let is = |extension: &str| path.extension().is_some_and(|found| found == extension);
            if is("part") || (is(EXTENSION) && of.is_none_or(|of| of < position)) {
                fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        File::open(&self.path).and_then(|dir| dir.sync_all()).map_err(io(&self.path))
    }

    fn write(&self, published: &Published, part: &Path, path: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        let state = published.state.to_bytes().map_err(io::Error::other)?;
        let mut index = Vec::new();
        published.index.write_to(&mut index)?;
        let preface = Preface {
            position: published.head.position,
            epoch: published.head.epoch,
            head: published.head.hash,
            state_bytes: length(&state),
            state_hash: Hash::of(&state),
            index_bytes: length(&index),
            index_hash: Hash::of(&index),
        };
        let mut file = BufWriter::new(create_private(part)?);
        file.write_all(MAGIC)?;
        file.write_all(&postcard::to_stdvec(&preface).map_err(io::Error::other)?)?;
        file.write_all(&state)?;
        file.write_all(&index)?;
        self.settle(&file.into_inner()?, part, path)
    }

    /// Gives a file that is written its name, durably.
    fn settle(&self, file: &File, part: &Path, path: &Path) -> io::Result<()> {
        file.sync_all()?;
        fs::rename(part, path)?;
        File::open(&self.path)?.sync_all()
    }
}

/// Makes a file that only its owner reads: the index holds the words of every unit.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Reads a snapshot and checks it against its own hashes. Whether it is of this log is for the
/// caller to check.
pub fn load(path: &Path) -> Result<Published, SnapshotError> {
    let bytes =
        fs::read(path).map_err(|source| SnapshotError::Io { path: path.to_owned(), source })?;
    if OLDER.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(SnapshotError::Older { path: path.to_owned() });
    }
    parse(&bytes).map_err(|what| SnapshotError::Damaged { path: path.to_owned(), what })
}

/// Checks the bytes of a snapshot against their own hashes, and says of which commit they are.
pub(crate) fn check(bytes: &[u8]) -> Result<Head, String> {
    parse(bytes).map(|published| published.head)
}

fn parse(bytes: &[u8]) -> Result<Published, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a snapshot of this version")?;
    let (preface, rest): (Preface, _) =
        postcard::take_from_bytes(rest).map_err(|error| format!("preface: {error}"))?;
    let (state, index) = cut(rest, preface.state_bytes).ok_or("cut short")?;
    let (index, excess) = cut(index, preface.index_bytes).ok_or("cut short")?;
    if !excess.is_empty() {
        return Err("longer than it says".to_owned());
    }
    if Hash::of(state) != preface.state_hash || Hash::of(index) != preface.index_hash {
        return Err("its contents do not match its hash".to_owned());
    }
    let state = State::from_bytes(state).map_err(|error| format!("state: {error}"))?;
    let index = Index::read_from(&mut &*index).map_err(|error| format!("index: {error}"))?;
    let head = Head { position: preface.position, epoch: preface.epoch, hash: preface.head };
    if state.position != head.position || state.epoch != head.epoch {
        return Err("its state is of another position than it says".to_owned());
    }
    Ok(Published::new(head, state, index))
}

fn cut(bytes: &[u8], at: u64) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(usize::try_from(at).ok()?)
}
