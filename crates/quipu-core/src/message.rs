//! Who sends a message, in which session and at what logical time: what every rule is given beside the payload.

use crate::{limits::REPLACE_MANY_AUTHORITY, visibility::Speaker};

/// Who sent a message, and with what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub agent: String,
    pub session: Option<String>,
    /// The sender's logical time.
    pub epoch: u64,
    /// The authority of its credential, 0 to 10.
    pub authority: u8,
    /// Whether the credential is this agent's alone, and not one that may speak for any.
    pub own_key: bool,
    /// The id of the credential; none where nobody was asked for one.
    pub key: Option<String>,
}

/// Which roles a credential gives to the agents that speak through it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleGrant {
    /// Every one: an operator says which role an agent has.
    Every,
    Only(Vec<String>),
}

impl RoleGrant {
    #[must_use]
    pub fn gives(&self, role: &str) -> bool {
        match self {
            Self::Every => true,
            Self::Only(roles) => roles.iter().any(|given| given == role),
        }
    }

    /// The role of an agent that names none.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        match self {
            Self::Every => None,
            Self::Only(roles) => roles.first().map(String::as_str),
        }
    }
}

impl Default for RoleGrant {
    fn default() -> Self {
        Self::Only(Vec::new())
    }
}

impl Message {
    /// The id of the credential, where it may speak for any agent and is too weak itself to replace many units: whatever
    /// names speak through it count as one.
    #[must_use]
    pub fn shared_key(&self) -> Option<&str> {
        let is_shared = !self.own_key && self.authority < REPLACE_MANY_AUTHORITY;
        self.key.as_deref().filter(|_| is_shared)
    }

    /// Who speaks, through which credential.
    #[must_use]
    pub fn speaker(&self) -> Speaker<'_> {
        Speaker::through(&self.agent, self.authority)
    }
}
