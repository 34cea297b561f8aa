//! The types of the protocols exactly as they go over the wire, their errors, validation that needs
//! no state, canonical JSON and hashes. Knows nothing of I/O, storage, or what an operation does.

pub mod akashik;
pub mod base64;
pub mod canon;
pub mod error;
pub mod error_code;
pub mod harn;
pub mod hash;
pub mod limits;
pub mod reader;
pub mod timestamp;

pub use error::ProtocolError;
pub use error_code::ErrorCode;
pub use hash::Hash;
