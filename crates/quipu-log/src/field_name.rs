//! The name of a field: the unit of isolation and of ordering.
//! Names are safe as file names; what a field holds is not this file's business.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The longest allowed name, in characters.
pub const MAX_FIELD_NAME_CHARS: usize = 63;

/// A checked field name: 1 to 63 characters of `[a-z0-9_-]`, the first one of `[a-z0-9]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FieldName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldNameError {
    #[error("field name is empty")]
    Empty,
    #[error("field name has {chars} characters, at most {MAX_FIELD_NAME_CHARS} are allowed")]
    TooLong { chars: usize },
    #[error(
        "field name {name:?} has {found:?} at character {at}: allowed are a-z, 0-9, and after the first also _ and -"
    )]
    Character { name: String, found: char, at: usize },
}

impl FieldName {
    /// The field that is used when nobody names one: `default`.
    #[must_use]
    pub fn default_field() -> Self {
        Self("default".to_owned())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(name: &str) -> Result<(), FieldNameError> {
    if name.is_empty() {
        return Err(FieldNameError::Empty);
    }
    let chars = name.chars().count();
    if chars > MAX_FIELD_NAME_CHARS {
        return Err(FieldNameError::TooLong { chars });
    }
    for (index, found) in name.chars().enumerate() {
        let plain = found.is_ascii_lowercase() || found.is_ascii_digit();
        let mark = index > 0 && (found == '_' || found == '-');
        if !plain && !mark {
            return Err(FieldNameError::Character {
                name: name.to_owned(),
                found,
                at: index.saturating_add(1),
            });
        }
    }
    Ok(())
}

impl TryFrom<&str> for FieldName {
    type Error = FieldNameError;

    fn try_from(name: &str) -> Result<Self, Self::Error> {
        check(name)?;
        Ok(Self(name.to_owned()))
    }
}

impl TryFrom<String> for FieldName {
    type Error = FieldNameError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        check(&name)?;
        Ok(Self(name))
    }
}

impl FromStr for FieldName {
    type Err = FieldNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::try_from(name)
    }
}

impl From<FieldName> for String {
    fn from(name: FieldName) -> Self {
        name.0
    }
}

impl AsRef<str> for FieldName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_at_the_borders() {
        for name in ["a", "0", "default", "team-7_x", &"a".repeat(63)] {
            assert_eq!(FieldName::try_from(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn refuses_names_and_says_which_character() {
        assert_eq!(FieldName::try_from(""), Err(FieldNameError::Empty));
        assert_eq!(
            FieldName::try_from("a".repeat(64).as_str()),
            Err(FieldNameError::TooLong { chars: 64 })
        );
        for (name, found, at) in
            [("-a", '-', 1), ("_a", '_', 1), ("aB", 'B', 2), ("a/b", '/', 2), ("..", '.', 1)]
        {
            assert_eq!(
                FieldName::try_from(name),
                Err(FieldNameError::Character { name: name.to_owned(), found, at })
            );
        }
    }

    #[test]
    fn is_a_checked_string_in_json() {
        let name: FieldName = serde_json::from_str("\"team\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"team\"");
        assert!(serde_json::from_str::<FieldName>("\"../up\"").is_err());
    }
}
