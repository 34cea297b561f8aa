//! That a tree begins with another one, and how anyone checks it (RFC 9162 section 2.1.4.2, for the trees of
//! RFC 6962): nothing behind the old head was changed, moved or left out.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

use super::{node::parent, tree_head::TreeHead};

/// That the first `old_size` leaves of a tree of `new_size` are those of the old tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyProof {
    pub old_size: u64,
    pub new_size: u64,
    /// The nodes in the order of RFC 6962. None if the old tree is empty, or is the new one.
    pub path: Vec<Hash>,
}

/// Which of two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsistencyError {
    #[error("proof is from size {proof_old} to {proof_new}, the heads are of {old} and {new}")]
    SizeMismatch { proof_old: u64, proof_new: u64, old: u64, new: u64 },
    #[error("old size {old_size} is larger than new size {new_size}")]
    SizesReversed { old_size: u64, new_size: u64 },
    #[error("path of {found} hashes does not fit sizes {old_size} and {new_size}")]
    PathLength { found: usize, old_size: u64, new_size: u64 },
    #[error("path leads to old root {computed}, the old head has {expected}")]
    OldRootMismatch { computed: Hash, expected: Hash },
    #[error("path leads to new root {computed}, the new head has {expected}")]
    NewRootMismatch { computed: Hash, expected: Hash },
}

impl ConsistencyProof {
    /// Checks that the tree of `new` begins with the tree of `old`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self, old: &TreeHead, new: &TreeHead) -> Result<(), ConsistencyError> {
        let (old_size, new_size) = (old.size, new.size);
        if (self.old_size, self.new_size) != (old_size, new_size) {
            let (proof_old, proof_new) = (self.old_size, self.new_size);
            return Err(ConsistencyError::SizeMismatch {
                proof_old,
                proof_new,
                old: old_size,
                new: new_size,
            });
        }
        if old_size > new_size {
            return Err(ConsistencyError::SizesReversed { old_size, new_size });
        }
        if old_size == 0 || old_size == new_size {
            return self.verify_trivial(old, new);
        }
        let (old_root, new_root) = self.roots(old)?;
        same(Side::Old, old_root, old)?;
        same(Side::New, new_root, new)
    }

    /// Every tree begins with the empty one and with itself. There is nothing to show for it.
    fn verify_trivial(&self, old: &TreeHead, new: &TreeHead) -> Result<(), ConsistencyError> {
        if !self.path.is_empty() {
            return Err(self.path_length());
        }
        if old.size == 0 {
            same(Side::Old, TreeHead::empty().root, old)?;
        }
        if new.size == old.size {
            same(Side::New, old.root, new)?;
        }
        Ok(())
    }

    /// The two roots that the path gives; `old_size` is above 0 and below `new_size`.
    fn roots(&self, old: &TreeHead) -> Result<(Hash, Hash), ConsistencyError> {
        let mut path = self.path.iter();
        // Start at the last full subtree of the old tree. If that is the whole old tree, it is not in the path.
        let rise = (self.old_size - 1).trailing_ones();
        let (mut place, mut last) = ((self.old_size - 1) >> rise, (self.new_size - 1) >> rise);
        let start = if place == 0 { Some(&old.root) } else { path.next() };
        let start = *start.ok_or_else(|| self.path_length())?;
        let (mut old_root, mut new_root) = (start, start);
        for node in path {
            if last == 0 {
                return Err(self.path_length());
            }
            if place % 2 == 1 || place == last {
                old_root = parent(node, &old_root);
                new_root = parent(node, &new_root);
                let rise = place.trailing_zeros();
                (place, last) = (place >> rise, last >> rise);
            } else {
                new_root = parent(&new_root, node);
            }
            (place, last) = (place >> 1, last >> 1);
        }
        if last == 0 { Ok((old_root, new_root)) } else { Err(self.path_length()) }
    }

    const fn path_length(&self) -> ConsistencyError {
        let (found, old_size, new_size) = (self.path.len(), self.old_size, self.new_size);
        ConsistencyError::PathLength { found, old_size, new_size }
    }
}

fn same(side: Side, computed: Hash, head: &TreeHead) -> Result<(), ConsistencyError> {
    let expected = head.root;
    match side {
        _ if computed == expected => Ok(()),
        Side::Old => Err(ConsistencyError::OldRootMismatch { computed, expected }),
        Side::New => Err(ConsistencyError::NewRootMismatch { computed, expected }),
    }
}
