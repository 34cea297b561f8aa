//! The tree that answers proofs: the frontier, and the roots of all full blocks and of all full subtrees above
//! them. Leaves are not kept, they come from a [`LeafSource`]; how a proof is put together is in `prover`.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

use super::{
    consistency::ConsistencyProof,
    frontier::Frontier,
    inclusion::InclusionProof,
    leaf_source::LeafSource,
    node::{LeafHash, parent},
    prover::{ProveError, Prover},
    tree_head::TreeHead,
};

const BLOCK_HEIGHT: u32 = 8;

/// How many leaves a block has. What is above blocks is kept, about 64 bytes for each; what is inside them is
/// computed anew for each proof, from at most two blocks.
pub const BLOCK_LEAVES: u64 = 1 << BLOCK_HEIGHT;

/// A Merkle tree over the commits of one log, as RFC 6962 defines it.
///
/// ```text
///   kept        height 9       [ 0 .. 512 )
///   kept        height 8   [ 0 .. 256 ) [ 256 .. 512 )   + frontier
///   not kept    below       leaves 0 .. 255, 256 .. 511     512, 513
/// ```
///
/// Its stored form is the frontier and the blocks' roots; what is above them is computed when it is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "TreeForm", into = "TreeForm")]
pub struct MerkleTree {
    frontier: Frontier,
    /// `levels[k]` has the roots of the full subtrees of height `BLOCK_HEIGHT + k`, from the left.
    levels: Vec<Vec<Hash>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeFormError {
    #[error("tree of {size} leaves has {found} blocks, not {expected}")]
    BlockCount {
        size: u64,
        found: usize,
        /// How many full blocks so many leaves make.
        expected: u64,
    },
    #[error("blocks under the peak of height {height} give another root than the frontier has")]
    PeakMismatch { height: u32 },
}

impl MerkleTree {
    /// A tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a leaf at the right.
    pub fn append(&mut self, leaf: &LeafHash) {
        let levels = &mut self.levels;
        self.frontier.append_noting(leaf, |height, root| {
            let Some(above) = height.checked_sub(BLOCK_HEIGHT) else { return };
            let level = usize::try_from(above).unwrap_or(usize::MAX);
            match levels.get_mut(level) {
                Some(roots) => roots.push(root),
                // The first subtree of a height completes right after the second of the height below.
                None => levels.push(vec![root]),
            }
        });
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// The size and the root of the whole tree.
    #[must_use]
    pub fn head(&self) -> TreeHead {
        self.frontier.head()
    }

    /// The right edge, for those who append and never prove.
    #[must_use]
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// The root that the tree had when it had `size` leaves.
    ///
    /// # Errors
    /// `SizeBeyondTree`; or that the source failed, or has other leaves than those appended.
    pub fn root<S: LeafSource + ?Sized>(
        &self,
        size: u64,
        source: &S,
    ) -> Result<TreeHead, ProveError<S::Error>> {
        Prover::new(self, source).root(size)
    }

    /// That the leaf at `index` is in the tree of the first `size` leaves.
    ///
    /// # Errors
    /// `IndexOutsideTree`; else as [`Self::root`].
    pub fn inclusion_proof<S: LeafSource + ?Sized>(
        &self,
        index: u64,
        size: u64,
        source: &S,
    ) -> Result<InclusionProof, ProveError<S::Error>> {
        Prover::new(self, source).inclusion(index, size)
    }

    /// That the tree of the first `new_size` leaves begins with the tree of the first `old_size`.
    ///
    /// # Errors
    /// `SizesReversed`; else as [`Self::root`].
    pub fn consistency_proof<S: LeafSource + ?Sized>(
        &self,
        old_size: u64,
        new_size: u64,
        source: &S,
    ) -> Result<ConsistencyProof, ProveError<S::Error>> {
        Prover::new(self, source).consistency(old_size, new_size)
    }

    /// The root of the full subtree over the leaves `from .. from + leaves`, if it is one that is kept.
    pub(super) fn kept(&self, from: u64, leaves: u64) -> Option<Hash> {
        if !leaves.is_power_of_two() {
            return None;
        }
        let level = leaves.ilog2().checked_sub(BLOCK_HEIGHT)?;
        let roots = self.levels.get(usize::try_from(level).ok()?)?;
        roots.get(usize::try_from(from / leaves).ok()?).copied()
    }

    /// What the leaves of a block must give, also of the last block, which may not be full.
    pub(super) fn block_root(&self, block: u64) -> Option<Hash> {
        if block < self.size() / BLOCK_LEAVES {
            self.kept(block * BLOCK_LEAVES, BLOCK_LEAVES)
        } else {
            self.frontier.root_of_low_peaks(BLOCK_HEIGHT)
        }
    }

    fn check_peaks(&self) -> Result<(), TreeFormError> {
        let heights = (0..u64::BITS).rev().filter(|height| self.size() >> height & 1 == 1);
        for (height, peak) in heights.zip(self.frontier.peaks()) {
            let Some(above) = height.checked_sub(BLOCK_HEIGHT) else { break };
            let level = usize::try_from(above).unwrap_or(usize::MAX);
            if self.levels.get(level).and_then(|roots| roots.last()) != Some(peak) {
                return Err(TreeFormError::PeakMismatch { height });
            }
        }
        Ok(())
    }
}

impl<'a> FromIterator<&'a LeafHash> for MerkleTree {
    fn from_iter<I: IntoIterator<Item = &'a LeafHash>>(leaves: I) -> Self {
        let mut tree = Self::new();
        leaves.into_iter().for_each(|leaf| tree.append(leaf));
        tree
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeForm {
    frontier: Frontier,
    blocks: Vec<Hash>,
}

impl TryFrom<TreeForm> for MerkleTree {
    type Error = TreeFormError;

    fn try_from(form: TreeForm) -> Result<Self, TreeFormError> {
        let (size, found) = (form.frontier.size(), form.blocks.len());
        let expected = size / BLOCK_LEAVES;
        if u64::try_from(found) != Ok(expected) {
            return Err(TreeFormError::BlockCount { size, found, expected });
        }
        let mut levels = Vec::new();
        let mut roots = form.blocks;
        while !roots.is_empty() {
            let (pairs, _) = roots.as_chunks::<2>();
            let above = pairs.iter().map(|[left, right]| parent(left, right)).collect();
            levels.push(std::mem::replace(&mut roots, above));
        }
        let tree = Self { frontier: form.frontier, levels };
        tree.check_peaks()?;
        Ok(tree)
    }
}

impl From<MerkleTree> for TreeForm {
    fn from(tree: MerkleTree) -> Self {
        let blocks = tree.levels.into_iter().next().unwrap_or_default();
        Self { frontier: tree.frontier, blocks }
    }
}
