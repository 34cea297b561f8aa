//! Deterministic CBOR (RFC 8949 section 4.2) of JSON values: one sequence of bytes for each value.
//! Written by hand: what is needed is small, and the reader must refuse every other spelling.

mod decode;
mod encode;
mod float;

#[cfg(test)]
mod tests;

pub use decode::{CborError, decode};
pub use encode::{EncodeError, encode};
