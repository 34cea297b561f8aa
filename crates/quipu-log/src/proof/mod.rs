//! Proofs about the log that need nothing but themselves and a public key: an RFC 6962 Merkle tree over commit
//! hashes, checkpoints signed as C2SP notes, and `tlog-proof` files. Reads and writes nothing.
//!
//! The commit at position `p` of the log is the leaf with index `p - 1`. The tree and the hash chain are two
//! structures over the same commits; no proof mixes them.

mod checkpoint;
mod consistency;
mod decimal;
mod frontier;
mod inclusion;
mod key_name;
mod leaf_source;
mod node;
mod note;
mod prover;
mod signing_key;
#[cfg(test)]
mod tests;
mod tlog_proof;
mod tree;
mod tree_head;
mod verifier_key;

pub use checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint};
pub use consistency::{ConsistencyError, ConsistencyProof};
pub use frontier::{Frontier, FrontierFormError};
pub use inclusion::{InclusionError, InclusionProof};
pub use key_name::{KeyName, KeyNameError};
pub use leaf_source::LeafSource;
pub use node::LeafHash;
pub use note::{NOTE_BYTES_MAX, Note, NoteError, NoteSignature, SIGNATURES_MAX};
pub use prover::ProveError;
pub use signing_key::SigningKey;
pub use tlog_proof::{TlogProof, TlogProofError};
pub use tree::{BLOCK_LEAVES, MerkleTree, TreeFormError};
pub use tree_head::TreeHead;
pub use verifier_key::{KeyError, VerifierKey};
