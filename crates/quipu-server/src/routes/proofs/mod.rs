//! Proofs over HTTP (ours): signed checkpoints, and proofs that anyone can check without us.

mod routes;

pub(crate) use routes::{ProofApi, router};
