//! The name of a key that signs notes. What it names is up to whoever trusts the key.

use std::{fmt, str::FromStr};

/// A name as C2SP signed notes allow it: not empty, without spaces, `+` and control characters. A URL without its
/// scheme is recommended, such as `example.com/field`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyNameError {
    #[error("key name is empty")]
    Empty,
    /// A character that would end the name where it is written, or hide in it.
    #[error("key name {name:?} has {character:?}")]
    Character { name: String, character: char },
}

impl KeyName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = KeyNameError;

    fn from_str(name: &str) -> Result<Self, KeyNameError> {
        if name.is_empty() {
            return Err(KeyNameError::Empty);
        }
        let refused = |c: &char| c.is_whitespace() || c.is_control() || *c == '+';
        match name.chars().find(refused) {
            Some(character) => Err(KeyNameError::Character { name: name.to_owned(), character }),
            None => Ok(Self(name.to_owned())),
        }
    }
}
