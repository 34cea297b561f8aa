//! The stored form of an index: writing it, and reading it without trusting a byte of it.
//! Where it is stored, and whether it is the right one, is for the caller: it hashes it.

mod blocks;
mod error;
mod index;
mod lexical;
mod vectors;

pub use error::IndexError;
