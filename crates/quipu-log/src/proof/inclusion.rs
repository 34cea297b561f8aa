//! That a leaf is in a tree, and how anyone checks it (RFC 9162 section 2.1.3.2, for the trees of RFC 6962).

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

use super::{
    node::{LeafHash, parent},
    tree_head::TreeHead,
};

/// That a leaf stands at `index` in a tree of `size` leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InclusionProof {
    pub index: u64,
    pub size: u64,
    /// The siblings from the leaf's own up to the root's child.
    pub path: Vec<Hash>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InclusionError {
    #[error("proof is for a tree of {proof_size} leaves, the head is of {head_size}")]
    SizeMismatch { proof_size: u64, head_size: u64 },
    #[error("index {index} is outside a tree of {size} leaves")]
    IndexOutsideTree { index: u64, size: u64 },
    #[error("path of {found} hashes does not fit index {index} in a tree of {size} leaves")]
    PathLength { found: usize, index: u64, size: u64 },
    /// Another leaf, another path or another root.
    #[error("path leads to root {computed}, the head has {expected}")]
    RootMismatch {
        /// What the leaf and the path give.
        computed: Hash,
        expected: Hash,
    },
}

impl InclusionProof {
    /// Checks that `leaf` is in the tree that `head` stands for, at this proof's index.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self, leaf: &LeafHash, head: &TreeHead) -> Result<(), InclusionError> {
        if self.size != head.size {
            let (proof_size, head_size) = (self.size, head.size);
            return Err(InclusionError::SizeMismatch { proof_size, head_size });
        }
        let computed = self.root(leaf)?;
        if computed != head.root {
            return Err(InclusionError::RootMismatch { computed, expected: head.root });
        }
        Ok(())
    }

    fn root(&self, leaf: &LeafHash) -> Result<Hash, InclusionError> {
        let (index, size, found) = (self.index, self.size, self.path.len());
        if index >= size {
            return Err(InclusionError::IndexOutsideTree { index, size });
        }
        // `place` is the node among those of its height, `last` the last one of them.
        let (mut place, mut last) = (index, size - 1);
        let mut node = *leaf.as_hash();
        for sibling in &self.path {
            if last == 0 {
                return Err(InclusionError::PathLength { found, index, size });
            }
            if place % 2 == 1 || place == last {
                node = parent(sibling, &node);
                // A last node without a right sibling rises until it is a right one itself.
                let rise = place.trailing_zeros();
                (place, last) = (place >> rise, last >> rise);
            } else {
                node = parent(&node, sibling);
            }
            (place, last) = (place >> 1, last >> 1);
        }
        if last != 0 {
            return Err(InclusionError::PathLength { found, index, size });
        }
        Ok(node)
    }
}
