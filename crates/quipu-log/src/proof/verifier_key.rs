//! The public half of a key that signs notes: its text (C2SP signed-note, "Verifier keys") and how it verifies.
//! Only Ed25519, as the specification advises to support one algorithm.

use std::{fmt, str::FromStr};

use quipu_wire::{ed25519::PublicKey, hash::Hash, json::base64};

use super::key_name::{KeyName, KeyNameError};

/// The byte that says Ed25519 in a key's text and in its id.
pub(super) const ED25519: u8 = 1;

/// A key that notes can be verified with, written `name+id+key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: KeyName,
    id: u32,
    key: PublicKey,
}

/// A text that is no key. It never repeats the text, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("key is not of the form {form}")]
    Form { form: &'static str },
    #[error("key has no valid name")]
    Name(#[source] KeyNameError),
    #[error("key {name} has an id that is not {expected:08x}, the id of its name and key")]
    Id { name: KeyName, expected: u32 },
    /// Not base64 of the algorithm's byte and 32 more, or another algorithm than Ed25519.
    #[error("key {name} is not base64 of an Ed25519 key")]
    Material { name: KeyName },
    /// Bytes that are no point of the curve, or one for which anyone can sign.
    #[error("key {name} is not a usable Ed25519 public key")]
    Weak { name: KeyName },
}

impl VerifierKey {
    pub(super) fn new(name: KeyName, key: PublicKey) -> Self {
        let id = key_id(&name, &key);
        Self { name, id, key }
    }

    /// The key's name, which is the origin of the checkpoints that it may sign.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// The short id that signatures carry. It finds a key and proves nothing.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The same key under another name.
    #[must_use]
    pub fn renamed(&self, name: KeyName) -> Self {
        Self::new(name, self.key)
    }

    /// Whether `signature` is one of this key over `text`.
    pub(super) fn accepts(&self, text: &str, signature: &[u8]) -> bool {
        self.key.accepts(text.as_bytes(), signature)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material = encode_material(self.key.as_bytes());
        write!(formatter, "{}+{:08x}+{material}", self.name, self.id)
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let parts = KeyParts::parse(text, "name+id+key")?;
        let name = parts.name;
        let key = PublicKey::from_bytes(&parts.material)
            .ok_or_else(|| KeyError::Weak { name: name.clone() })?;
        Self::new(name, key).with_id(&parts.id)
    }
}

impl VerifierKey {
    /// This key, if its id is written so.
    pub(super) fn with_id(self, written: &str) -> Result<Self, KeyError> {
        if format!("{:08x}", self.id) == written {
            return Ok(self);
        }
        Err(KeyError::Id { name: self.name, expected: self.id })
    }
}

/// What the texts of both halves of a key have in common.
pub(super) struct KeyParts {
    pub(super) name: KeyName,
    pub(super) id: String,
    pub(super) material: [u8; 32],
}

impl KeyParts {
    /// Reads `name+id+material`. The material may have a `+` of its own, the name and the id have none.
    pub(super) fn parse(text: &str, form: &'static str) -> Result<Self, KeyError> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(material)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyError::Form { form });
        };
        let name: KeyName = name.parse().map_err(KeyError::Name)?;
        let decoded = base64::decode(material);
        let material = match decoded.as_deref() {
            Some([ED25519, key @ ..]) => <[u8; 32]>::try_from(key).ok(),
            _ => None,
        };
        match material {
            Some(material) => Ok(Self { name, id: id.to_owned(), material }),
            None => Err(KeyError::Material { name }),
        }
    }
}

/// The base64 of the algorithm's byte and a half of a key.
pub(super) fn encode_material(key: &[u8; 32]) -> String {
    let mut material = vec![ED25519];
    material.extend(key);
    base64::encode(&material)
}

fn key_id(name: &KeyName, key: &PublicKey) -> u32 {
    let hash = Hash::of_parts(&[name.as_str().as_bytes(), b"\n", &[ED25519], key.as_bytes()]);
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_be_bytes([a, b, c, d])
}
