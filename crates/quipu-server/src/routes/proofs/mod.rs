//! Proofs over HTTP (ours): signed checkpoints, and proofs that anyone can check without us.

mod routes;
mod signer;

pub(crate) use routes::{ProofApi, router};
pub(crate) use signer::Signer;
