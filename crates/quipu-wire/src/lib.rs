//! The types of the protocols exactly as they go over the wire, their errors, validation that needs
//! no state, canonical JSON and hashes. Knows nothing of I/O, storage, or what an operation does.

pub mod akashik;
pub mod ed25519;
pub mod error;
pub mod harn;
pub mod hash;
pub mod json;
pub mod limits;
mod operation;
pub mod quote;
mod words;

pub use error::error_code::ErrorCode;
pub use error::protocol_error::ProtocolError;
pub use hash::Hash;
