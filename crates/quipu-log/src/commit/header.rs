//! The header of a commit: what is hashed and chained, and never erased.

use serde::{Deserialize, Serialize};

use quipu_wire::hash::Hash;

/// The version of the header's form that this crate writes and reads.
pub const HEADER_VERSION: u32 = 1;

/// The chained part of a commit: everything but the free text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header<E> {
    /// Version of this form, [`HEADER_VERSION`].
    pub v: u32,
    /// Dense, from 1.
    pub position: u64,
    /// Lamport epoch.
    pub epoch: u64,
    /// Milliseconds since 1970.
    pub time_ms: u64,
    pub actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The events in order.
    pub events: Vec<SealedEvent<E>>,
    /// Hash of the commit before, zero for the first.
    pub prev: Hash,
}

/// An event with the commitment to its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedEvent<E> {
    pub event: E,
    /// Salted hash of the body, if there is or was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Hash>,
}
