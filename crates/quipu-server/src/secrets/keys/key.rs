//! A key and its parts: how a secret is written, hashed and compared. Knows no file.

use quipu_core::{RoleGrant, visibility::CREATOR_AUTHORITY};
use quipu_log::FieldName;
use quipu_wire::{Hash, limits::AUTHORITY_MAX};
use serde::{Deserialize, Serialize};

use crate::ids;

const PREFIX: &str = "quipu_";
/// How long a key's id is.
pub(super) const ID_CHARS: usize = 8;

/// For whom a key may speak.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum KeyAgent {
    /// For every agent; written `*`.
    Any,
    Named(String),
}

impl From<String> for KeyAgent {
    fn from(text: String) -> Self {
        if text == "*" { Self::Any } else { Self::Named(text) }
    }
}

impl From<KeyAgent> for String {
    fn from(agent: KeyAgent) -> Self {
        match agent {
            KeyAgent::Any => "*".to_owned(),
            KeyAgent::Named(name) => name,
        }
    }
}

impl std::fmt::Display for KeyAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.pad("*"),
            Self::Named(name) => f.pad(name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub agent: KeyAgent,
    pub authority: u8,
    /// The only Field it is good for.
    pub field: Option<FieldName>,
    /// A note for the operator.
    pub label: Option<String>,
    /// The roles that it gives to the agents that speak through it.
    pub roles: Vec<String>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyInfo {
    /// Names the key in lists and logs; part of the secret's text.
    pub id: String,
    pub agent: KeyAgent,
    pub authority: u8,
    /// The only Field it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldName>,
    /// A note for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The roles that it gives to the agents that speak through it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// When it was revoked, in milliseconds since 1970. A revoked key stays listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at_ms: Option<u64>,
}

#[derive(Clone)]
pub struct IssuedKey {
    pub info: KeyInfo,
    /// What the caller sends. It is stored nowhere and cannot be shown again.
    pub secret: String,
}

impl std::fmt::Debug for IssuedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedKey").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Stands for the id of a key where nobody is asked for one. No key's id is so short.
pub(crate) const NO_KEY: &str = "dev";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub key_id: String,
    pub agent: KeyAgent,
    pub authority: u8,
    /// The only Field it is good for.
    pub field: Option<FieldName>,
    /// The roles that it gives to the agents that speak through it.
    pub roles: Vec<String>,
}

impl Credential {
    /// Which roles it gives. Who may speak for every agent with a session creator's authority, or is an operator, says
    /// which role an agent has.
    #[must_use]
    pub fn role_grant(&self) -> RoleGrant {
        let assigns = self.agent == KeyAgent::Any && self.authority >= CREATOR_AUTHORITY;
        if assigns || self.authority >= AUTHORITY_MAX {
            return RoleGrant::Every;
        }
        RoleGrant::Only(self.roles.clone())
    }
}

impl Credential {
    /// Whether it is one agent's alone, and so proves whose it is.
    #[must_use]
    pub fn is_of_one(&self) -> bool {
        matches!(self.agent, KeyAgent::Named(_))
    }

    /// What is noted with the units that come through it; nothing where nobody was asked for a key.
    pub(crate) fn noted_id(&self) -> Option<String> {
        (self.key_id != NO_KEY).then(|| self.key_id.clone())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredKey {
    #[serde(flatten)]
    pub(super) info: KeyInfo,
    /// SHA-256 of the whole secret. The secret has 256 random bits, so no slow hash is needed.
    pub(super) secret_sha256: Hash,
}

impl StoredKey {
    /// Makes a key, and the secret that goes with it.
    pub(super) fn issue(id: String, new: NewKey, created_at_ms: u64) -> (Self, String) {
        let secret = format!("{PREFIX}{id}_{}", ids::key_secret());
        let info = KeyInfo {
            id,
            agent: new.agent,
            authority: new.authority,
            field: new.field,
            label: new.label,
            roles: new.roles,
            created_at_ms,
            revoked_at_ms: None,
        };
        (Self { info, secret_sha256: Hash::of(secret.as_bytes()) }, secret)
    }

    /// Whether the secret is this key's. Takes the same time wherever they differ.
    pub(super) fn is_opened_by(&self, secret: &str) -> bool {
        let given = Hash::of(secret.as_bytes());
        let pairs = self.secret_sha256.as_bytes().iter().zip(given.as_bytes());
        let difference = pairs.fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        std::hint::black_box(difference) == 0
    }

    pub(super) fn credential(&self) -> Credential {
        Credential {
            key_id: self.info.id.clone(),
            agent: self.info.agent.clone(),
            authority: self.info.authority,
            field: self.info.field.clone(),
            roles: self.info.roles.clone(),
        }
    }
}

/// The id inside a secret, if the text has a secret's shape so far.
pub(super) fn id_within(secret: &str) -> Option<&str> {
    let rest = secret.strip_prefix(PREFIX)?;
    let id = rest.get(..ID_CHARS)?;
    (rest.as_bytes().get(ID_CHARS) == Some(&b'_')).then_some(id)
}
