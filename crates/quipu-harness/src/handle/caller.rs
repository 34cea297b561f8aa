//! Who asks, and with what right.

use quipu_wire::harn::{HarnError, HarnErrorCode};

/// The authority that sets limits and policies.
pub(crate) const AUTHORITY_POLICY: u8 = 8;

/// The actor behind a request, as its credential proved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The agent that it is in the Field.
    pub agent: String,
    /// The authority of its credential, 0 to 10.
    pub authority: u8,
    /// Whether the credential is this agent's alone.
    pub own_key: bool,
}

impl Caller {
    /// Checks that the caller's credential has an authority.
    pub(crate) fn require(&self, authority: u8) -> Result<(), HarnError> {
        if self.authority >= authority {
            return Ok(());
        }
        let message = format!("this needs authority {authority}");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
    }
}
