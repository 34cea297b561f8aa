//! The salt of a body: 16 random bytes, so that the commitment reveals nothing about the text. The caller draws them;
//! there is no randomness here.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Sixteen bytes, written as 32 lowercase hex characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Salt([u8; 16]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a salt of 32 lowercase hex characters")]
pub struct ParseSaltError {
    pub text: String,
}

impl Salt {
    /// Wraps bytes that the caller drew.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Appends the 32 characters; an append writes one for each body, so this goes without formatting.
    pub(crate) fn push_hex(&self, out: &mut String) {
        let digit = |nibble: u8| {
            let first = if nibble < 10 { b'0' } else { b'a' - 10 };
            char::from(first + nibble)
        };
        for byte in self.0 {
            out.push(digit(byte >> 4));
            out.push(digit(byte & 0xf));
        }
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(32);
        self.push_hex(&mut text);
        f.write_str(&text)
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Salt({self})")
    }
}

// Only lowercase is accepted: a salt with a damaged bit on disk must not pass for the same salt.
const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn parse(text: &str) -> Option<[u8; 16]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 16 || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = (nibble(*high)? << 4) | nibble(*low)?;
    }
    Some(bytes)
}

impl FromStr for Salt {
    type Err = ParseSaltError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map(Self).ok_or_else(|| ParseSaltError { text: text.to_owned() })
    }
}

impl TryFrom<String> for Salt {
    type Error = ParseSaltError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Salt> for String {
    fn from(salt: Salt) -> Self {
        salt.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_exactly_one_spelling() {
        let text = "000102030405060708090a0b0c0d0eff";
        let salt: Salt = text.parse().unwrap();
        assert_eq!(salt.to_string(), text);
        assert_eq!(salt.as_bytes()[15], 0xff);
        for wrong in [&text.to_uppercase(), &text[..31], "", &format!("{text}0"), "é"] {
            assert!(wrong.parse::<Salt>().is_err(), "{wrong}");
        }
    }
}
