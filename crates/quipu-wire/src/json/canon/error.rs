//! Why a value has no canonical form, and why a text was refused. Maps nothing to a protocol's
//! codes: the operation that parses does that.

use std::fmt::Display;

use serde::ser;
use thiserror::Error;

use super::serializer::MAX_DEPTH;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CanonError {
    /// A double, which is what a JSON number is, does not hold this integer exactly.
    #[error("integer {value} is outside -(2^53-1)..=2^53-1")]
    IntegerTooLarge {
        /// The integer in decimal.
        value: String,
    },
    /// JSON has no NaN and no infinities.
    #[error("number {value} is not finite")]
    NotFinite {
        /// `NaN`, `Infinity` or `-Infinity`.
        value: &'static str,
    },
    /// The value has more levels of arrays and objects than [`MAX_DEPTH`].
    #[error("value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// An object was given the same key twice.
    #[error("object has the key {key:?} twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A map's key was something else than a string.
    #[error("object key is {kind}, not a string")]
    KeyNotString {
        /// What it was, in words.
        kind: &'static str,
    },
    /// Bytes have no JSON form; the type must choose one itself.
    #[error("bytes have no canonical form")]
    Bytes,
    /// Raw JSON inside the value is not strict JSON.
    #[error("raw JSON inside the value was refused")]
    Raw(#[source] ParseError),
    /// The value's own `Serialize` failed or broke its contract.
    #[error("value cannot be serialized: {reason}")]
    Custom {
        /// What it said.
        reason: String,
    },
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
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 where the reader had not begun the line.
        column: usize,
        /// What is wrong, in words.
        reason: String,
    },
    /// An object has the same key twice, perhaps in two spellings.
    #[error("duplicate key at {path}")]
    DuplicateKey {
        /// The key's path.
        path: String,
    },
    /// A double does not hold this integer exactly.
    #[error("integer at {path} is outside -(2^53-1)..=2^53-1")]
    IntegerTooLarge {
        /// The number's path.
        path: String,
    },
    /// A number rounds to infinity.
    #[error("number at {path} is too large")]
    NumberTooLarge {
        /// The number's path.
        path: String,
    },
    /// More levels of arrays and objects than [`MAX_DEPTH`].
    #[error("value at {path} is nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// The path of the first array or object that is too deep.
        path: String,
    },
}
