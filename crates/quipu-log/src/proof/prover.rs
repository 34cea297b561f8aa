//! How proofs are put together (RFC 6962 sections 2.1.1 and 2.1.2) from the subtrees that a tree keeps and the
//! leaves of a source. Every block of leaves is checked against the tree before it is used, so that no proof is
//! ever made from leaves that were changed behind the tree's back.

use std::collections::BTreeMap;

use quipu_wire::hash::Hash;

use super::{
    consistency::ConsistencyProof,
    frontier::Frontier,
    inclusion::InclusionProof,
    leaf_source::LeafSource,
    node::{LeafHash, parent, split},
    tree::{BLOCK_LEAVES, MerkleTree},
    tree_head::TreeHead,
};

/// Why there is no proof. `E` is the error of the source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProveError<E> {
    #[error("size {size} is beyond the tree of {tree_size} leaves")]
    SizeBeyondTree { size: u64, tree_size: u64 },
    #[error("index {index} is outside a tree of {size} leaves")]
    IndexOutsideTree { index: u64, size: u64 },
    #[error("old size {old_size} is larger than new size {new_size}")]
    SizesReversed {
        /// The size of the tree that should come first.
        old_size: u64,
        /// The size of the tree that should extend it.
        new_size: u64,
    },
    #[error("source has {found} leaves from index {from}, not {expected}")]
    LeafCount {
        /// The index of the first leaf asked for.
        from: u64,
        expected: u64,
        found: usize,
    },
    #[error("the {count} leaves from index {from} are not those that were appended")]
    LeavesChanged {
        /// The index of the first leaf of the block.
        from: u64,
        count: u64,
    },
    #[error("leaves from index {from} cannot be read")]
    Source {
        /// The index of the first leaf asked for.
        from: u64,
        #[source]
        cause: E,
    },
}

/// Makes one proof; keeps the blocks that it has read for as long as that takes.
pub(super) struct Prover<'a, S: LeafSource + ?Sized> {
    tree: &'a MerkleTree,
    source: &'a S,
    blocks: BTreeMap<u64, Vec<LeafHash>>,
}

impl<'a, S: LeafSource + ?Sized> Prover<'a, S> {
    pub(super) const fn new(tree: &'a MerkleTree, source: &'a S) -> Self {
        Self { tree, source, blocks: BTreeMap::new() }
    }

    pub(super) fn root(mut self, size: u64) -> Result<TreeHead, ProveError<S::Error>> {
        self.check_size(size)?;
        if size == 0 {
            return Ok(TreeHead::empty());
        }
        if size == self.tree.size() {
            return Ok(self.tree.head());
        }
        Ok(TreeHead { size, root: self.subtree(0, size)? })
    }

    pub(super) fn inclusion(
        mut self,
        index: u64,
        size: u64,
    ) -> Result<InclusionProof, ProveError<S::Error>> {
        self.check_size(size)?;
        if index >= size {
            return Err(ProveError::IndexOutsideTree { index, size });
        }
        let (mut from, mut to) = (0, size);
        let mut path = Vec::new();
        while to - from > 1 {
            let middle = from + split(to - from);
            if index < middle {
                path.push(self.subtree(middle, to)?);
                to = middle;
            } else {
                path.push(self.subtree(from, middle)?);
                from = middle;
            }
        }
        // Found from the root downwards, told from the leaf upwards.
        path.reverse();
        Ok(InclusionProof { index, size, path })
    }

    pub(super) fn consistency(
        mut self,
        old_size: u64,
        new_size: u64,
    ) -> Result<ConsistencyProof, ProveError<S::Error>> {
        self.check_size(new_size)?;
        if old_size > new_size {
            return Err(ProveError::SizesReversed { old_size, new_size });
        }
        let mut path = Vec::new();
        if old_size > 0 {
            let (mut from, mut to) = (0, new_size);
            while old_size < to {
                let middle = from + split(to - from);
                if old_size <= middle {
                    path.push(self.subtree(middle, to)?);
                    to = middle;
                } else {
                    path.push(self.subtree(from, middle)?);
                    from = middle;
                }
            }
            // A subtree that begins at the first leaf is the old tree itself; whoever verifies has its root.
            if from > 0 {
                path.push(self.subtree(from, to)?);
            }
            path.reverse();
        }
        Ok(ConsistencyProof { old_size, new_size, path })
    }

    fn check_size(&self, size: u64) -> Result<(), ProveError<S::Error>> {
        let tree_size = self.tree.size();
        if size > tree_size { Err(ProveError::SizeBeyondTree { size, tree_size }) } else { Ok(()) }
    }

    /// The root over the leaves `from .. to`, which are a subtree where RFC 6962 divides: `from` is a multiple of
    /// a power of two that is not below `to - from`. Therefore one of up to a block's size lies in one block.
    fn subtree(&mut self, from: u64, to: u64) -> Result<Hash, ProveError<S::Error>> {
        let leaves = to - from;
        if let Some(root) = self.tree.kept(from, leaves) {
            return Ok(root);
        }
        if leaves <= BLOCK_LEAVES {
            return self.subtree_of_block(from, leaves);
        }
        let middle = from + split(leaves);
        Ok(parent(&self.subtree(from, middle)?, &self.subtree(middle, to)?))
    }

    fn subtree_of_block(&mut self, from: u64, leaves: u64) -> Result<Hash, ProveError<S::Error>> {
        let number = from / BLOCK_LEAVES;
        if !self.blocks.contains_key(&number) {
            let block = self.read_block(number)?;
            self.blocks.insert(number, block);
        }
        let block = self.blocks.get(&number).map(Vec::as_slice).unwrap_or_default();
        let skipped = usize::try_from(from % BLOCK_LEAVES).unwrap_or(usize::MAX);
        let count = usize::try_from(leaves).unwrap_or(usize::MAX);
        Ok(block.iter().skip(skipped).take(count).collect::<Frontier>().head().root)
    }

    fn read_block(&self, number: u64) -> Result<Vec<LeafHash>, ProveError<S::Error>> {
        let from = number * BLOCK_LEAVES;
        let expected = BLOCK_LEAVES.min(self.tree.size() - from);
        let count = usize::try_from(expected).unwrap_or(usize::MAX);
        let leaves =
            self.source.leaves(from, count).map_err(|cause| ProveError::Source { from, cause })?;
        if leaves.len() != count {
            return Err(ProveError::LeafCount { from, expected, found: leaves.len() });
        }
        let root = leaves.iter().collect::<Frontier>().head().root;
        if self.tree.block_root(number) != Some(root) {
            return Err(ProveError::LeavesChanged { from, count: expected });
        }
        Ok(leaves)
    }
}
