//! What every engine must do: the contract, its errors, the checks before a write, and the notes of shared engines.

mod batch;
mod contract;
mod error;
mod notes;

pub use batch::{check_batch, not_sealed};
pub use contract::{BodyAddress, Engine, Erasure, READ_BYTES_MAX};
pub use error::EngineError;
pub use notes::{NOTE_BYTES_MAX, Note, Notes, check_note};
