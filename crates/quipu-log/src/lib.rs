//! The append-only log: commits, their hash chain, the [`Engine`] trait and its engines, proofs.
//!
//! This crate knows how commits are sealed, stored, followed, erased and verified.
//! It knows nothing of what the events in them mean.
#![warn(clippy::indexing_slicing)]

mod ahead;
mod bodies;
pub mod commit;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod damage;
pub mod engine;
pub mod field_name;
pub mod jsonl;
pub mod memory;
pub mod notes;
pub mod proof;
pub mod salt;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod verify;

pub use ahead::{Checked, Pace, Prepare, read_ahead};
pub use commit::{
    Body, BodyContent, CheckedHeader, Commit, Draft, DraftEvent, Head, Header, SealError,
    SealedEvent, StoredBodies, StoredBody, StoredHeader, decode_body,
};
pub use damage::{Damage, DamageKind};
pub use engine::{BodyAddress, Engine, EngineError, Erasure};
pub use field_name::{FieldName, FieldNameError};
pub use memory::MemoryEngine;
pub use notes::{NOTE_BYTES_MAX, Note, Notes};
pub use proof::{LeafHash, LeafSource, MerkleTree, SignedCheckpoint, TlogProof, TreeHead};
pub use salt::Salt;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteEngine, SqliteOptions};
pub use verify::{verify_chain, verify_headers, verify_prepared};
