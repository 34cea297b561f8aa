//! Who sends a message, in which session and at what logical time: what every rule is given beside the payload.

use crate::visibility::Speaker;

/// Who sent a message, and with what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message's own id.
    pub id: String,
    /// The agent that speaks.
    pub agent: String,
    /// The session it speaks in.
    pub session: Option<String>,
    /// The sender's logical time.
    pub epoch: u64,
    /// The authority of its credential, 0 to 10.
    pub authority: u8,
    /// Whether the credential is this agent's alone, and not one that may speak for any.
    pub own_key: bool,
}

impl Message {
    /// Who speaks, through which credential.
    #[must_use]
    pub fn speaker(&self) -> Speaker<'_> {
        Speaker { agent: &self.agent, credential: self.authority }
    }
}
