//! How leaves and inner nodes of the tree are hashed (RFC 6962 section 2.1). Two prefixes keep them apart, so
//! that an inner node can never be shown as a leaf.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

const LEAF_PREFIX: &[u8] = &[0];
const INNER_PREFIX: &[u8] = &[1];

/// The hash of a leaf. A type of its own, so that a commit's hash is not taken for the hash of its leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeafHash(Hash);

impl LeafHash {
    /// The leaf of a commit in our tree: the entry is the commit's hash, 32 bytes.
    #[must_use]
    pub fn of_commit(commit: &Hash) -> Self {
        Self::of_entry(commit.as_bytes())
    }

    /// The leaf of any entry, as in the RFC.
    #[must_use]
    pub fn of_entry(entry: &[u8]) -> Self {
        Self(Hash::of_parts(&[LEAF_PREFIX, entry]))
    }

    /// As a node of the tree.
    #[must_use]
    pub const fn as_hash(&self) -> &Hash {
        &self.0
    }
}

pub(super) fn parent(left: &Hash, right: &Hash) -> Hash {
    Hash::of_parts(&[INNER_PREFIX, left.as_bytes(), right.as_bytes()])
}

/// Where RFC 6962 divides `leaves` (at least 2): the largest power of two below.
pub(super) const fn split(leaves: u64) -> u64 {
    1 << (leaves - 1).ilog2()
}
