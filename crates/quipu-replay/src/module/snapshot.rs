//! A run that waits, in bytes: the input and the answers so far. Authenticated, so that nobody
//! makes a module believe what it was never answered, and without secrets, which are asked for again.
//!
//! ```text
//! quipu-module-snapshot-1 <HMAC-SHA-256 in hexadecimal>\n
//! <canonical JSON>
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

use quipu_wire::{harn::Sha256, json::canon};

use super::{
    compile::Module,
    limits::SNAPSHOT_BYTES_MAX,
    policy::{Policy, SnapshotKey},
};
use crate::secrets::hmac;

const FORMAT: &str = "quipu-module-snapshot-1 ";

/// The key under which a snapshot goes to the process of a module and comes from it: that process has no other.
pub(super) const NOBODYS_KEY: SnapshotKey = SnapshotKey([0; 32]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SnapshotError {
    #[error("the snapshot is longer than {SNAPSHOT_BYTES_MAX} bytes")]
    TooLong,
    #[error("this is no snapshot of a module")]
    NotASnapshot,
    #[error("the snapshot was altered, or made with another key")]
    NotAuthentic,
    #[error("the snapshot belongs to another module")]
    OtherModule,
    #[error("the snapshot was made under another allow list")]
    OtherGrants,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    pub(super) key: String,
    pub(super) request: Sha256,
    /// The answer; nothing in the place of a secret. Null is an answer, so it is wrapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<GivenAnswer>,
}

/// An answer, also where it is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenAnswer {
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Waiting {
    module: Sha256,
    grants: Vec<String>,
    pub(super) input: Value,
    pub(super) exchanges: Vec<Exchange>,
}

impl Waiting {
    pub(super) fn new(
        module: &Module,
        policy: &Policy,
        input: Value,
        exchanges: Vec<Exchange>,
    ) -> Self {
        let grants = policy.names().map(str::to_owned).collect();
        Self { module: module.digest(), grants, input, exchanges }
    }

    pub(super) fn seal(&self, policy: &Policy) -> Result<Vec<u8>, SnapshotError> {
        let body = canon::to_vec(self).map_err(|_| SnapshotError::NotASnapshot)?;
        let mut bytes = format!("{FORMAT}{}\n", tag(policy.key(), &body)).into_bytes();
        bytes.extend(body);
        if bytes.len() > SNAPSHOT_BYTES_MAX { Err(SnapshotError::TooLong) } else { Ok(bytes) }
    }

    /// Reads bytes that [`Self::seal`] made for the same module under the same policy.
    pub(super) fn open(
        bytes: &[u8],
        module: &Module,
        policy: &Policy,
    ) -> Result<Self, SnapshotError> {
        let body = authentic(bytes, policy.key())?;
        let value = canon::parse(body).map_err(|_| SnapshotError::NotASnapshot)?;
        let waiting: Self =
            serde_json::from_value(value).map_err(|_| SnapshotError::NotASnapshot)?;
        if waiting.module != module.digest() {
            return Err(SnapshotError::OtherModule);
        }
        if !waiting.grants.iter().map(String::as_str).eq(policy.names()) {
            return Err(SnapshotError::OtherGrants);
        }
        Ok(waiting)
    }
}

/// What a snapshot holds, if it was sealed with this key.
fn authentic<'b>(bytes: &'b [u8], key: &SnapshotKey) -> Result<&'b [u8], SnapshotError> {
    if bytes.len() > SNAPSHOT_BYTES_MAX {
        return Err(SnapshotError::TooLong);
    }
    let rest = bytes.strip_prefix(FORMAT.as_bytes()).ok_or(SnapshotError::NotASnapshot)?;
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or(SnapshotError::NotASnapshot)?;
    let (given, body) = (&rest[..end], &rest[end + 1..]);
    if same(given, tag(key, body).as_bytes()) { Ok(body) } else { Err(SnapshotError::NotAuthentic) }
}

/// The same snapshot under another key.
pub(super) fn resealed(
    bytes: &[u8],
    from: &SnapshotKey,
    to: &SnapshotKey,
) -> Result<String, SnapshotError> {
    let body = authentic(bytes, from)?;
    let text = std::str::from_utf8(body).map_err(|_| SnapshotError::NotASnapshot)?;
    Ok(format!("{FORMAT}{}\n{text}", tag(to, body)))
}

/// The format is under the tag too, so that a key that is used elsewhere makes no snapshots.
fn tag(key: &SnapshotKey, body: &[u8]) -> String {
    hmac(&key.0, &[FORMAT.as_bytes(), body].concat()).to_string()
}

/// Compares without telling by its time where the first difference is.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && differs == 0
}
