//! Why a value has no canonical form, and why a text was refused. Maps nothing to a protocol's
//! codes: the operation that parses does that.

use std::fmt::Display;

use serde::ser;
use thiserror::Error;

use super::serializer::MAX_DEPTH;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CanonError {
    /// A double, which is what a JSON number is, does not hold this integer exactly.
    #[error("integer {value} is outside -(2^53-1)..=2^53-1")]
    IntegerTooLarge { value: String },
    #[error("number {value} is not finite")]
    NotFinite {
        /// `NaN`, `Infinity` or `-Infinity`.
        value: &'static str,
    },
    #[error("value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("object has the key {key:?} twice")]
    DuplicateKey { key: String },
    #[error("object key is {kind}, not a string")]
    KeyNotString { kind: &'static str },
    /// Bytes have no JSON form; the type must choose one itself.
    #[error("bytes have no canonical form")]
    Bytes,
    #[error("raw JSON inside the value was refused")]
    Raw(#[source] ParseError),
    #[error("value cannot be serialized: {reason}")]
    Custom { reason: String },
}

impl ser::Error for CanonError {
    fn custom<T: Display>(reason: T) -> Self {
        Self::Custom { reason: reason.to_string() }
    }
}

/// Why a text was refused. `path` reads like `payload.intent.purpose` or `items[3]`, and is `$` for
/// the whole text; a very long one is cut.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text is not JSON, not UTF-8, has more after its value, or has a number too large to read.
    #[error("invalid JSON at line {line} column {column}: {reason}")]
    Syntax {
        line: usize,
        /// Column in bytes, from 1; 0 where the reader had not begun the line.
        column: usize,
        reason: String,
    },
    #[error("duplicate key at {path}")]
    DuplicateKey { path: String },
    #[error("integer at {path} is outside -(2^53-1)..=2^53-1")]
    IntegerTooLarge { path: String },
    #[error("number at {path} is too large")]
    NumberTooLarge { path: String },
    #[error("value at {path} is nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// The path of the first array or object that is too deep.
        path: String,
    },
}
