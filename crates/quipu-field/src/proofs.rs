//! Proofs about a Field's log: the Merkle tree over its commits, grown behind the log when somebody
//! asks, never on the way of an append. The tree is derived; the log is read again after a restart.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quipu_log::{
    Engine, EngineError, FieldName, LeafHash, LeafSource, MerkleTree, TreeHead,
    proof::{ConsistencyProof, InclusionProof, ProveError},
};
use quipu_wire::{ErrorCode, Hash, ProtocolError};

use crate::{failure::storage_failure, limits::READ_PAGE};

/// The tree of a Field and where its leaves are.
#[derive(Debug)]
pub(crate) struct Proofs {
    leaves: Leaves,
    tree: Mutex<MerkleTree>,
}

/// A commit and the proof that the log of this size holds it.
#[derive(Debug)]
pub struct CommitProof {
    /// The hash of the commit.
    pub commit: Hash,
    /// Its canonical header.
    pub header: Box<[u8]>,
    /// Where it is in the tree.
    pub inclusion: InclusionProof,
    /// The tree.
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
    pub(crate) fn new(engine: Arc<dyn Engine>, field: FieldName) -> Self {
        Self { leaves: Leaves { engine, field }, tree: Mutex::default() }
    }

    /// The tree over the first `size` commits, all of which are durable.
    pub(crate) fn tree_head(&self, size: u64) -> Result<TreeHead, ProtocolError> {
        let tree = self.grown_to(size)?;
        tree.root(size, &self.leaves).map_err(failed)
    }

    /// The proof that the log of `size` commits holds the one at `position`.
    pub(crate) fn inclusion(&self, position: u64, size: u64) -> Result<CommitProof, ProtocolError> {
        let missing = || {
            let message = format!("position: {position} is not in a log of {size} commits");
            ProtocolError::new(ErrorCode::UnitNotFound, message)
        };
        let index = position.checked_sub(1).filter(|index| *index < size).ok_or_else(missing)?;
        let tree = self.tree_head(size)?;
        let inclusion =
            self.grown_to(size)?.inclusion_proof(index, size, &self.leaves).map_err(failed)?;
        let read = self.leaves.engine.read(&self.leaves.field, position, 1);
        let commit = read.map_err(|error| storage_failure(&error))?.pop().ok_or_else(missing)?;
        Ok(CommitProof { commit: commit.hash, header: commit.header, inclusion, tree })
    }

    /// The proof that the log of `new` commits begins with the log of `old` commits.
    pub(crate) fn consistency(
        &self,
        old: u64,
        new: u64,
    ) -> Result<ConsistencyProof, ProtocolError> {
        self.grown_to(new)?.consistency_proof(old, new, &self.leaves).map_err(failed)
    }

    fn grown_to(&self, size: u64) -> Result<MutexGuard<'_, MerkleTree>, ProtocolError> {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        while tree.size() < size {
            let count = usize::try_from(size - tree.size()).unwrap_or(READ_PAGE).min(READ_PAGE);
            let leaves =
                self.leaves.leaves(tree.size(), count).map_err(|error| storage_failure(&error))?;
            if leaves.is_empty() {
                let message = format!("size: the log has only {} commits", tree.size());
                return Err(ProtocolError::new(ErrorCode::InvalidPayload, message));
            }
            leaves.iter().for_each(|leaf| tree.append(leaf));
        }
        Ok(tree)
    }
}

fn failed(error: ProveError<EngineError>) -> ProtocolError {
    match error {
        ProveError::Source { cause, .. } => storage_failure(&cause),
        ProveError::SizeBeyondTree { .. }
        | ProveError::IndexOutsideTree { .. }
        | ProveError::SizesReversed { .. } => {
            ProtocolError::new(ErrorCode::InvalidPayload, error.to_string())
        }
        ProveError::LeafCount { .. } | ProveError::LeavesChanged { .. } => {
            ProtocolError::new(ErrorCode::FieldUnavailable, error.to_string())
        }
    }
}
