//! SHA-256 hashes as the log and its proofs name things, and how they are computed. Does not decide
//! what is hashed: callers hand in bytes, most often canonical JSON.

use std::{fmt, io, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use thiserror::Error;

const BYTES: usize = 32;
const HEX_CHARS: usize = 2 * BYTES;
const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A SHA-256 hash. Shown, parsed and serialized as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; BYTES]);

impl Hash {
    /// All zeros: stands where there is nothing before, such as the first commit's `prev_hash`.
    pub const ZERO: Self = Self([0; BYTES]);

    /// The hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of all `parts` in a row. Where one part ends is not hashed: a caller whose parts
    /// vary in length puts the lengths in.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finish()
    }

    /// A hash that was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The hash as it is hashed or stored.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    fn with_hex<T>(&self, use_hex: impl FnOnce(&str) -> T) -> T {
        let mut hex = [0; HEX_CHARS];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX_DIGITS[usize::from(byte >> 4)];
            pair[1] = HEX_DIGITS[usize::from(byte & 0xF)];
        }
        use_hex(std::str::from_utf8(&hex).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_hex(|hex| formatter.pad(hex))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseHashError {
    #[error("hash has {length} bytes of text, not {HEX_CHARS}")]
    Length { length: usize },
    /// A character is no lowercase hexadecimal digit. Uppercase is refused, so that a hash has one
    /// spelling.
    #[error("hash has {character:?} at {position}, not a lowercase hexadecimal digit")]
    Digit {
        character: char,
        /// Where it stands, in bytes from 0.
        position: usize,
    },
}

impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        if text.len() != HEX_CHARS {
            return Err(ParseHashError::Length { length: text.len() });
        }
        let mut bytes = [0; BYTES];
        let mut seen = 0;
        // Every commit that is read has at least one hash, so all digits are taken before any is judged.
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let [high, low] = [pair[0], pair[1]].map(|digit| DIGITS[usize::from(digit)]);
            seen |= high | low;
            *byte = high << 4 | low;
        }
        if seen < 16 {
            return Ok(Self(bytes));
        }
        let wrong = |(_, character): &(usize, char)| {
            u8::try_from(*character).map_or(true, |byte| DIGITS[usize::from(byte)] > 15)
        };
        let (position, character) = text.char_indices().find(wrong).unwrap_or_default();
        Err(ParseHashError::Digit { character, position })
    }
}

/// The value of each lowercase hexadecimal digit; for every other byte a number that is no digit's.
const DIGITS: [u8; 256] = {
    let mut digits = [0x80; 256];
    let mut value: u8 = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_hex(|hex| serializer.serialize_str(hex))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HexVisitor)
    }
}

struct HexVisitor;

impl de::Visitor<'_> for HexVisitor {
    type Value = Hash;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a hash of {HEX_CHARS} lowercase hexadecimal digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Hash, E> {
        text.parse().map_err(E::custom)
    }
}

/// Computes a [`struct@Hash`] from bytes that come in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    #[must_use]
    pub fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

/// Writing takes every byte at once and never fails.
impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn gives_the_published_sha256_values() {
        for (input, hex) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", OF_ABC),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                &"a".repeat(1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            assert_eq!(Hash::of(input.as_bytes()).to_string(), hex);
        }
    }

    #[test]
    fn gives_the_same_hash_whole_in_parts_and_written_in_pieces() {
        let mut hasher = Hasher::new();
        hasher.write_all(b"ab").unwrap();
        hasher.flush().unwrap();
        hasher.update(b"c");
        assert_eq!(hasher.finish(), Hash::of(b"abc"));
        assert_eq!(Hash::of_parts(&[b"ab", b"", b"c"]), Hash::of(b"abc"));
        assert_eq!(Hash::of_parts(&[]), Hash::of(b""));
    }

    #[test]
    fn reads_back_what_it_shows() {
        let hash = Hash::of(b"abc");
        assert_eq!(OF_ABC.parse(), Ok(hash));
        assert_eq!(format!("{hash:?}"), OF_ABC);
        assert_eq!(Hash::from_bytes(*hash.as_bytes()), hash);
        assert_eq!(Hash::ZERO.to_string(), "0".repeat(64));
    }

    #[test]
    fn orders_hashes_as_their_texts_are_ordered() {
        let (low, high) = (Hash::of(b"abc"), Hash::of(b""));
        assert!(low < high && low.to_string() < high.to_string());
        assert!(Hash::ZERO < low);
    }

    #[test]
    fn refuses_a_text_of_the_wrong_length() {
        for length in [0, 63, 65] {
            let refused = "0".repeat(length).parse::<Hash>();
            assert_eq!(refused, Err(ParseHashError::Length { length }));
        }
    }

    #[test]
    fn refuses_a_character_that_is_no_lowercase_digit_and_says_where() {
        for (character, position) in [('A', 0), ('g', 5), ('é', 62), (' ', 63)] {
            let before = "0".repeat(position);
            let after = "0".repeat(64 - position - character.len_utf8());
            let refused = format!("{before}{character}{after}").parse::<Hash>();
            assert_eq!(refused, Err(ParseHashError::Digit { character, position }));
        }
    }

    #[test]
    fn is_a_string_in_json() {
        let hash = Hash::of(b"abc");
        let json = format!("\"{OF_ABC}\"");
        assert_eq!(serde_json::to_string(&hash).unwrap(), json);
        assert_eq!(serde_json::from_str::<Hash>(&json).unwrap(), hash);
        let refused = serde_json::from_str::<Hash>("\"abc\"").unwrap_err().to_string();
        assert!(refused.contains("hash has 3 bytes of text, not 64"), "{refused}");
    }
}
