//! A SHA-256 digest in this protocol's spelling, `sha256:` and 64 lowercase hexadecimal digits. Only
//! an Artifact's `sha256` is bare; `bare` converts at that boundary.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::{
    hash::{Hash, ParseHashError},
    json::canon::{self, CanonError},
};

const PREFIX: &str = "sha256:";

/// A digest, written `sha256:<hex>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256(pub crate::hash::Hash);

impl Sha256 {
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hash::of(bytes))
    }

    /// The digest of a value: of its canonical JSON.
    ///
    /// # Errors
    /// Where the value has no canonical form.
    pub fn of_json(value: &Value) -> Result<Self, CanonError> {
        Ok(Self::of(&canon::to_vec(value)?))
    }

    /// The digest without its prefix, as an Artifact carries it.
    #[must_use]
    pub fn bare(&self) -> String {
        self.0.to_string()
    }

    /// Reads an Artifact's `sha256`: bare, and in either case of letters.
    ///
    /// # Errors
    /// Where the text is not 64 hexadecimal digits.
    pub fn parse_bare(text: &str) -> Result<Self, ParseHashError> {
        text.to_ascii_lowercase().parse().map(Self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be `sha256:` and 64 lowercase hexadecimal digits")]
pub struct ParseDigestError;

impl FromStr for Sha256 {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let hex = text.strip_prefix(PREFIX).ok_or(ParseDigestError)?;
        hex.parse().map(Self).map_err(|_| ParseDigestError)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Sha256 {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Sha256 {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_back_what_it_writes_and_refuses_every_other_spelling() {
        let digest = Sha256::of(b"abc");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(serde_json::to_value(digest).unwrap(), json!(digest.to_string()));
        for text in ["", "sha256:", &digest.bare(), &digest.to_string().to_uppercase()] {
            assert_eq!(text.parse::<Sha256>(), Err(ParseDigestError), "{text}");
        }
        assert_eq!(Sha256::parse_bare(&digest.bare().to_uppercase()), Ok(digest));
    }

    #[test]
    fn a_value_has_one_digest_however_it_was_written() {
        let one = crate::json::canon::parse(br#"{"b":2.0,"a":[1]}"#).unwrap();
        let other = crate::json::canon::parse(br#"{"a":[1],"b":2}"#).unwrap();
        assert_eq!(Sha256::of_json(&one), Sha256::of_json(&other));
    }
}
