//! Names that the server makes up: ids of requests and of messages that came without one, and the
//! secrets of keys. The only place of this crate that draws randomness.

use std::sync::atomic::{AtomicU64, Ordering};

const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Makes ids that are unique among all servers: a random start, then a counter. It costs no call to
/// the operating system per id.
#[derive(Debug)]
pub(crate) struct IdSource {
    prefix: u64,
    next: AtomicU64,
}

impl IdSource {
    pub(crate) fn new() -> Self {
        Self { prefix: u64::from_be_bytes(random()), next: AtomicU64::new(0) }
    }

    /// 26 characters, never the same twice.
    pub(crate) fn next(&self) -> String {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        base32((u128::from(self.prefix) << 64) | u128::from(count), 26)
    }
}

/// A fresh id for a key: 8 characters.
pub(crate) fn key_id() -> String {
    base32(u128::from(u64::from_be_bytes(random())), 8)
}

/// Whether a text has only characters of which ids are made.
pub(crate) fn is_drawn(text: &str) -> bool {
    text.bytes().all(|byte| BASE32.contains(&byte))
}

pub(crate) fn seed() -> [u8; 32] {
    random()
}

/// The secret half of a key: 43 characters that stand for 32 random bytes.
pub(crate) fn key_secret() -> String {
    base64_url(&random::<32>())
}

#[expect(clippy::disallowed_methods, reason = "this is the place that draws randomness")]
fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

fn base32(bits: u128, length: u32) -> String {
    let digit = |place: u32| usize::try_from((bits >> (5 * place)) & 31).unwrap_or(0);
    (0..length).rev().map(|place| char::from(BASE32[digit(place)])).collect()
}

fn base64_url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for place in 0..=chunk.len() {
            let digit = (bits >> (18 - 6 * place)) & 63;
            text.push(char::from(BASE64_URL[usize::try_from(digit).unwrap_or(0)]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn base64_is_that_of_the_standard_for_urls() {
        assert_eq!(base64_url(b"fo"), "Zm8");
        assert_eq!(base64_url(b"foo"), "Zm9v");
        assert_eq!(base64_url(&[0xFB, 0xFF]), "-_8");
    }

    #[test]
    fn ids_and_secrets_have_their_length_and_do_not_repeat() {
        let source = IdSource::new();
        let ids: BTreeSet<String> = (0..1000).map(|_| source.next()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 26));
        assert_eq!(key_id().len(), 8);
        assert_eq!(key_secret().len(), 43);
        assert_ne!(key_secret(), key_secret());
    }
}
