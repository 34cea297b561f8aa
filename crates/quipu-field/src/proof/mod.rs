//! Proofs that the log was not altered: the tree behind it, and what was signed of it.

mod files;
pub(crate) mod proofs;
