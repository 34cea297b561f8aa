//! A root together with the size of its tree: neither says anything without the other.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeHead {
    /// How many leaves there are.
    pub size: u64,
    pub root: Hash,
}

impl TreeHead {
    /// The head of a tree without leaves: its root is the hash of nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self { size: 0, root: Hash::of(b"") }
    }
}
