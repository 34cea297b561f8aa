//! Small documents beside the logs of a shared engine: what every node must know and no Field holds.
//! Knows nothing of what stands in them.

use std::fmt;

use super::error::EngineError;

/// The most bytes that a note may have. Servers of NATS take a mebibyte in one message unless they are told otherwise.
pub const NOTE_BYTES_MAX: usize = 512 * 1024;

/// Notes that all engines over one storage share.
///
/// **Durability.** When `put` answers `Ok`, the note is on stable storage, and every later `get` through any engine shows
/// it or a later one.
///
/// **Ordering.** Of several `put`s with the same expected version exactly one succeeds. Versions of a note only rise; they
/// need not be dense. Version 0 is that of a note that was never written.
///
/// **Idempotency.** `get` changes nothing. After an error of kind [`EngineError::Io`] the outcome of a `put` is
/// unknown: whoever needs to know reads again. It cannot happen after a later `put` succeeded.
pub trait Notes: Send + Sync + fmt::Debug {
    /// The note of this name; none if it was never written.
    ///
    /// # Errors
    /// `Io` if it cannot be read.
    fn get(&self, name: &str) -> Result<Option<Note>, EngineError>;

    /// Replaces a note that has the version `expected`, whole and synced. Answers its new version, or none if it has
    /// another version by now: then nothing was written.
    ///
    /// # Errors
    /// `InvalidBatch` for a name or a size that cannot be kept; `Full`; `Unavailable`, and nothing was written; `Io`.
    fn put(&self, name: &str, expected: u64, bytes: &[u8]) -> Result<Option<u64>, EngineError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Rises with every change.
    pub version: u64,
    pub bytes: Vec<u8>,
}

/// Refuses what not every engine could keep.
///
/// # Errors
/// `InvalidBatch`, saying what is wrong.
pub fn check_note(name: &str, bytes: &[u8]) -> Result<(), EngineError> {
    let refuse = |reason: String| Err(EngineError::InvalidBatch { position: 0, reason });
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
        return refuse(format!("{name:?} is no name of a note"));
    }
    if bytes.len() > NOTE_BYTES_MAX {
        let size = bytes.len();
        return refuse(format!(
            "the note {name} has {size} bytes, and {NOTE_BYTES_MAX} is the most"
        ));
    }
    Ok(())
}
