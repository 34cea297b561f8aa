//! The right edge of a tree: all that is needed to append to it and to know its root. It proves nothing; see
//! `tree` for that.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

use super::{
    node::{LeafHash, parent},
    tree_head::TreeHead,
};

/// The roots of the full subtrees of a tree, one for each bit of its size.
///
/// ```text
///   size 7 = 4 + 2 + 1       peaks: [ABCD] [EF] [G]
/// ```
///
/// Appending costs at most as many hashes as the tree is high, and on average one more than the leaf's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "FrontierForm", into = "FrontierForm")]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("frontier of {size} leaves has {found} peaks, not {expected}")]
pub struct FrontierFormError {
    pub size: u64,
    pub found: usize,
    /// How many a tree of that size has.
    pub expected: u32,
}

impl Frontier {
    /// The frontier of a tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a leaf at the right.
    pub fn append(&mut self, leaf: &LeafHash) {
        self.append_noting(leaf, |_, _| {});
    }

    /// As [`Self::append`], and tells of every full subtree that the leaf completes: its height and its root,
    /// from the leaf itself (height 0) upwards.
    pub(super) fn append_noting(&mut self, leaf: &LeafHash, mut note: impl FnMut(u32, Hash)) {
        let mut node = *leaf.as_hash();
        note(0, node);
        // Each low bit of the size is a peak as high as the node that is carried: the two become one.
        for height in 1..=self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                node = parent(&left, &node);
                note(height, node);
            }
        }
        self.peaks.push(node);
        self.size += 1;
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The size and the root.
    #[must_use]
    pub fn head(&self) -> TreeHead {
        let root = fold(&self.peaks).unwrap_or_else(|| TreeHead::empty().root);
        TreeHead { size: self.size, root }
    }

    /// The peaks, the highest first.
    pub(super) fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// The root over the last leaves that the low bits of the size count: those below `height`.
    pub(super) fn root_of_low_peaks(&self, height: u32) -> Option<Hash> {
        let low = (self.size & ((1 << height) - 1)).count_ones();
        let high = self.peaks.len().saturating_sub(usize::try_from(low).unwrap_or(usize::MAX));
        fold(self.peaks.get(high..)?)
    }
}

impl<'a> FromIterator<&'a LeafHash> for Frontier {
    fn from_iter<I: IntoIterator<Item = &'a LeafHash>>(leaves: I) -> Self {
        let mut frontier = Self::new();
        leaves.into_iter().for_each(|leaf| frontier.append(leaf));
        frontier
    }
}

// RFC 6962 hangs what is left over on the right below what is full on the left.
fn fold(peaks: &[Hash]) -> Option<Hash> {
    peaks.iter().rev().copied().reduce(|right, left| parent(&left, &right))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontierForm {
    size: u64,
    peaks: Vec<Hash>,
}

impl TryFrom<FrontierForm> for Frontier {
    type Error = FrontierFormError;

    fn try_from(form: FrontierForm) -> Result<Self, FrontierFormError> {
        let (size, found, expected) = (form.size, form.peaks.len(), form.size.count_ones());
        if u32::try_from(found) != Ok(expected) {
            return Err(FrontierFormError { size, found, expected });
        }
        Ok(Self { size, peaks: form.peaks })
    }
}

impl From<Frontier> for FrontierForm {
    fn from(frontier: Frontier) -> Self {
        Self { size: frontier.size, peaks: frontier.peaks }
    }
}
