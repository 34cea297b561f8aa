//! Tests of the proofs through their public surface.

mod oracles;
mod proof_files;
mod signatures;
mod stored_trees;
mod vectors;
