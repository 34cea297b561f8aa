//! Proofs about a Field's log: the Merkle tree over its commits, grown behind the log when somebody
//! asks, never on the way of an append. The tree is derived; after a restart it goes on from the saved
//! one, if that is of this log. What was signed once is remembered, and nothing else is signed for it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quipu_log::{
    Engine, EngineError, FieldName, LeafHash, LeafSource, MerkleTree, TreeHead,
    proof::{ConsistencyProof, InclusionProof, ProveError},
};
use quipu_wire::Hash;

use crate::{
    base::{
        asker::check_waited_for,
        error::{FieldError, RequestError},
        limits::{READ_PAGE, TREE_SAVED_COMMITS},
        unavailable::Unavailable,
    },
    proof::files::{ProofDir, SavedTree},
};

/// The tree of a Field and where its leaves are.
#[derive(Debug)]
pub(crate) struct Proofs {
    leaves: Leaves,
    directory: Option<ProofDir>,
    tree: Mutex<Grown>,
    signed: Mutex<Signed>,
}

#[derive(Debug, Default)]
struct Grown {
    tree: MerkleTree,
    /// The size that was saved last; none before the saved tree was looked for.
    saved: Option<u64>,
}

#[derive(Debug, Default)]
struct Signed {
    head: Option<TreeHead>,
    /// Whether this log was found to contain it. Once it does it always will.
    checked: bool,
}

/// A commit and the proof that the log of this size holds it.
#[derive(Debug)]
pub struct CommitProof {
    pub commit: Hash,
    /// Its canonical header.
    pub header: Box<[u8]>,
    pub inclusion: InclusionProof,
    pub tree: TreeHead,
}

#[derive(Debug)]
struct Leaves {
    engine: Arc<dyn Engine>,
    field: FieldName,
}

impl LeafSource for Leaves {
    type Error = EngineError;

    fn leaves(&self, from: u64, count: usize) -> Result<Vec<LeafHash>, EngineError> {
        let mut leaves = Vec::with_capacity(count);
        let mut position = from + 1;
        while leaves.len() < count {
            check_waited_for()?;
            // A page may be cut short by its size, so it is asked for until there are enough.
            let page = self.engine.read(&self.field, position, count - leaves.len())?;
            let Some(last) = page.last() else { break };
            position = last.position + 1;
            leaves.extend(page.iter().map(|commit| LeafHash::of_commit(&commit.hash)));
        }
        Ok(leaves)
    }
}

impl Proofs {
    /// The proofs of a Field. With a directory the tree survives a restart, and so does the memory of what
    /// was signed.
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        field: FieldName,
        directory: Option<PathBuf>,
    ) -> Self {
        let (tree, signed) = (Mutex::default(), Mutex::default());
        let directory = directory.map(ProofDir::new);
        Self { leaves: Leaves { engine, field }, directory, tree, signed }
    }

    /// The tree over the first `size` commits, all of which are durable.
    pub(crate) fn tree_head(&self, size: u64) -> Result<TreeHead, FieldError> {
        let grown = self.grown_to(size)?;
        grown.tree.root(size, &self.leaves).map_err(FieldError::from)
    }

    /// Allows a head of this log to be signed: only if the log, which has `size` commits by now, contains
    /// what was signed last. Otherwise one name would vouch for two logs.
    pub(crate) fn vouch(&self, head: &TreeHead, size: u64) -> Result<(), FieldError> {
        let mut signed = self.signed.lock().unwrap_or_else(PoisonError::into_inner);
        if !signed.checked {
            signed.head = self.signed_before()?;
            if let Some(last) = signed.head {
                self.check_contains(&last, size)?;
            }
            signed.checked = true;
        }
        if signed.head.is_none_or(|last| last.size < head.size) {
            if let Some(directory) = &self.directory {
                directory.save_signed(head).map_err(|error| self.unusable(directory, &error))?;
            }
            signed.head = Some(*head);
        }
        Ok(())
    }

    fn signed_before(&self) -> Result<Option<TreeHead>, FieldError> {
        let Some(directory) = &self.directory else { return Ok(None) };
        Ok(directory.signed().map_err(|error| self.unusable(directory, &error))?)
    }

    fn check_contains(&self, last: &TreeHead, size: u64) -> Result<(), FieldError> {
        let signed = last.size;
        let error = if signed > size {
            Unavailable::ShorterThanSigned { signed, size }
        } else if self.tree_head(signed)? != *last {
            Unavailable::OtherThanSigned { signed }
        } else {
            return Ok(());
        };
        tracing::error!(field = %self.leaves.field, %error, "nothing is signed");
        Err(error.into())
    }

    fn unusable(&self, directory: &ProofDir, error: &std::io::Error) -> Unavailable {
        let path = directory.path().display();
        tracing::error!(field = %self.leaves.field, %path, %error, "nothing is signed");
        Unavailable::SignedUnknown
    }

    /// The proof that the log of `size` commits holds the one at `position`.
    pub(crate) fn inclusion(&self, position: u64, size: u64) -> Result<CommitProof, FieldError> {
        let missing = || RequestError::CommitNotFound { position, size };
        let index = position.checked_sub(1).filter(|index| *index < size).ok_or_else(missing)?;
        let tree = self.tree_head(size)?;
        let inclusion = self.grown_to(size)?.tree.inclusion_proof(index, size, &self.leaves)?;
        let read = self.leaves.engine.read(&self.leaves.field, position, 1);
        let commit = read?.pop().ok_or_else(missing)?;
        Ok(CommitProof { commit: commit.hash, header: commit.header, inclusion, tree })
    }

    /// The proof that the log of `new` commits begins with the log of `old` commits.
    pub(crate) fn consistency(&self, old: u64, new: u64) -> Result<ConsistencyProof, FieldError> {
        self.grown_to(new)?.tree.consistency_proof(old, new, &self.leaves).map_err(FieldError::from)
    }

    fn grown_to(&self, size: u64) -> Result<MutexGuard<'_, Grown>, FieldError> {
        let mut grown = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if grown.saved.is_none() {
            grown.tree = self.saved_tree()?;
            grown.saved = Some(grown.tree.size());
        }
        self.grow(&mut grown.tree, size)?;
        if grown.tree.size() >= grown.saved.unwrap_or(0) + TREE_SAVED_COMMITS {
            self.save(&mut grown);
        }
        Ok(grown)
    }

    /// The tree that was saved last, if it is of this log; else the empty one.
    fn saved_tree(&self) -> Result<MerkleTree, EngineError> {
        let Some(saved) = self.directory.as_ref().and_then(ProofDir::tree) else {
            return Ok(MerkleTree::new());
        };
        let Leaves { engine, field } = &self.leaves;
        let last = engine.read(field, saved.tree.size(), 1)?.pop();
        let is_of_log =
            last.is_some_and(|last| last.hash == saved.last && last.position == saved.tree.size());
        Ok(if is_of_log { saved.tree } else { MerkleTree::new() })
    }

    /// Saves the tree. A failure costs only that the next start builds more of it anew.
    fn save(&self, grown: &mut Grown) {
        let Some(directory) = &self.directory else { return };
        let Leaves { engine, field } = &self.leaves;
        let size = grown.tree.size();
        let last = engine.read(field, size, 1).ok().and_then(|mut page| page.pop());
        let Some(last) = last.filter(|last| last.position == size) else { return };
        let saved = SavedTree { last: last.hash, tree: grown.tree.clone() };
        match directory.save_tree(&saved) {
            Ok(()) => grown.saved = Some(size),
            Err(error) => tracing::warn!(%field, %error, "the tree of the proofs was not saved"),
        }
    }

    /// Saves the tree where it has grown since, because the Field is closed.
    pub(crate) fn close(&self) {
        let mut grown = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if grown.saved.is_some_and(|saved| saved < grown.tree.size()) {
            self.save(&mut grown);
        }
    }

    fn grow(&self, tree: &mut MerkleTree, size: u64) -> Result<(), FieldError> {
        while tree.size() < size {
            let count = usize::try_from(size - tree.size()).unwrap_or(READ_PAGE).min(READ_PAGE);
            let leaves = self.leaves.leaves(tree.size(), count)?;
            if leaves.is_empty() {
                return Err(RequestError::LogTooShort { size: tree.size() }.into());
            }
            leaves.iter().for_each(|leaf| tree.append(leaf));
        }
        Ok(())
    }
}

impl From<ProveError<EngineError>> for FieldError {
    fn from(error: ProveError<EngineError>) -> Self {
        match error {
            ProveError::Source { cause, .. } => cause.into(),
            ProveError::SizeBeyondTree { .. }
            | ProveError::IndexOutsideTree { .. }
            | ProveError::SizesReversed { .. } => {
                RequestError::Unprovable(error.to_string()).into()
            }
            ProveError::LeafCount { .. } | ProveError::LeavesChanged { .. } => {
                Unavailable::TreeUnreliable { reason: error.to_string() }.into()
            }
        }
    }
}
