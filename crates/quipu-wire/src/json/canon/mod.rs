//! Canonical JSON: the one sequence of bytes that a value has (RFC 8785), which is what gets hashed
//! and signed, and a strict reader that refuses every text with more than one reading.
//! Knows nothing of what the values mean.

mod error;
mod key;
mod number;
mod object;
mod order;
mod parse;
mod path;
mod serializer;
mod text;

#[cfg(test)]
mod tests;

pub use error::{CanonError, ParseError};
pub use parse::parse;
pub use serializer::{MAX_DEPTH, to_string, to_vec};
