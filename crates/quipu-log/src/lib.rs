//! The append-only log: commits, their hash chain, the [`Engine`] trait and its engines, proofs.
//!
//! This crate knows how commits are sealed, stored, followed, erased and verified.
//! It knows nothing of what the events in them mean.
#![warn(clippy::indexing_slicing)]

pub mod commit;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod engine;
pub mod field_name;
pub mod jsonl;
pub mod memory;
pub mod proof;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod verify;

pub use commit::{
    Body, BodyContent, CheckedHeader, Commit, Damage, DamageKind, Draft, DraftEvent, Head, Header,
    Salt, SealError, SealedEvent, StoredBodies, StoredBody, StoredHeader, decode_body,
};
pub use engine::{BodyAddress, Engine, EngineError, Erasure, NOTE_BYTES_MAX, Note, Notes};
pub use field_name::{FieldName, FieldNameError};
pub use memory::MemoryEngine;
pub use proof::{LeafHash, LeafSource, MerkleTree, SignedCheckpoint, TlogProof, TreeHead};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteEngine, SqliteOptions};
pub use verify::{
    Checked, Pace, Prepare, read_ahead, verify_chain, verify_headers, verify_prepared,
};
