//! The idempotency key's syntax and what makes two requests the same (I-4, I-8, I-9). Where keys are
//! kept, and for how long, is decided elsewhere; only digests are.

use serde_json::Value;

use super::{HarnError, HarnErrorCode, Sha256};
use crate::json::canon::{self, CanonError};

pub const IDEMPOTENCY_HEADER: &str = "Idempotency-Key";
/// The longest key, after trimming.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// How long the first answer to a key is kept.
pub const IDEMPOTENCY_RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// A key that a client chose, trimmed: 1 to 255 printable ASCII bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header's lines of one request; absent is none.
    ///
    /// # Errors
    /// 400 where it is there twice, empty, too long, or has a byte that is not printable ASCII.
    pub fn read<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<Self>, HarnError> {
        let mut lines = lines.into_iter();
        let Some(line) = lines.next() else { return Ok(None) };
        if lines.next().is_some() {
            return Err(refused("is there twice"));
        }
        Self::parse(line).map(Some)
    }

    /// Reads one key. Control bytes are refused before anything is trimmed.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(line: &[u8]) -> Result<Self, HarnError> {
        if !line.iter().all(|byte| (0x20..=0x7e).contains(byte)) {
            return Err(refused("must be printable ASCII"));
        }
        let key = std::str::from_utf8(line).unwrap_or_default().trim_matches(' ');
        if key.is_empty() {
            return Err(refused("must not be empty"));
        }
        if key.len() > IDEMPOTENCY_KEY_BYTES_MAX {
            return Err(refused("must be at most 255 bytes"));
        }
        Ok(Self(key.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the key is kept under: a digest of everything that its meaning depends on.
    #[must_use]
    pub fn scope(&self, actor: &str, workspace: &str, method: &str, target: &str) -> Sha256 {
        let parts = [actor, workspace, method, target, self.as_str()];
        let text = canon::to_vec(&parts).expect("a list of texts has a canonical form");
        Sha256::of(&text)
    }
}

/// The digest by which two bodies are the same: order of keys and white space do not count.
///
/// # Errors
/// Where the body has no canonical form, which strict reading has already refused.
pub fn body_digest(body: &Value) -> Result<Sha256, CanonError> {
    Sha256::of_json(body)
}

/// A key was used before with another body.
#[must_use]
pub fn key_reused() -> HarnError {
    let message = "this idempotency key was used for another request; use a new one";
    HarnError::new(HarnErrorCode::IdempotencyKeyReused, message).at(IDEMPOTENCY_HEADER)
}

fn refused(problem: &str) -> HarnError {
    let message = format!("{IDEMPOTENCY_HEADER} {problem}");
    HarnError::new(HarnErrorCode::InvalidRequest, message).at(IDEMPOTENCY_HEADER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_around_a_key_do_not_count_and_spaces_inside_do() {
        assert_eq!(IdempotencyKey::parse(b"  a b ").unwrap().as_str(), "a b");
        assert_eq!(IdempotencyKey::read([]), Ok(None));
        assert!(IdempotencyKey::parse(&[b'k'; 255]).is_ok());
    }

    #[test]
    fn a_key_that_is_empty_long_doubled_or_not_printable_is_refused() {
        let long = [b'k'; 256];
        for bad in [&b""[..], b"   ", b"a\tb", b"\ta", b"a\n", "é".as_bytes(), b"\x7f", &long] {
            assert_eq!(IdempotencyKey::parse(bad).unwrap_err().code.http_status(), 400);
        }
        assert!(IdempotencyKey::read([&b"a"[..], b"a"]).is_err());
    }

    #[test]
    fn the_scope_tells_every_part_apart() {
        let key = IdempotencyKey::parse(b"k").unwrap();
        let base = key.scope("a", "w", "POST", "/v1/tasks");
        assert_eq!(base, key.scope("a", "w", "POST", "/v1/tasks"));
        assert_ne!(base, key.scope("aw", "", "POST", "/v1/tasks"));
        assert_ne!(base, key.scope("a", "w", "PATCH", "/v1/tasks"));
        assert_ne!(base, IdempotencyKey::parse(b"l").unwrap().scope("a", "w", "POST", "/v1/tasks"));
    }
}
