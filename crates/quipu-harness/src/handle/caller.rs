//! Who asks, and with what right.

use quipu_core::{Reader, RoleGrant, State, visibility::authority_in};
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
    /// The id of the credential; none where nobody was asked for one.
    pub key: Option<String>,
    /// The session that the request names beside its path: it shows what is under a free label of the other protocol.
    pub session: Option<String>,
    pub roles: RoleGrant,
}

impl Caller {
    /// Who has a credential of its own, names no session and is given no role.
    #[must_use]
    pub fn new(agent: impl Into<String>, authority: u8) -> Self {
        let (key, session, roles) = (None, None, RoleGrant::default());
        Self { agent: agent.into(), authority, own_key: true, key, session, roles }
    }

    /// The caller as whoever decides what is seen knows it.
    pub(crate) fn reader(&self) -> Reader {
        self.reader_in(None)
    }

    /// The same where the request itself names a session, as a filter does.
    pub(crate) fn reader_in(&self, session: Option<&str>) -> Reader {
        Reader {
            agent: Some(self.agent.clone()),
            session: session.map(str::to_owned).or_else(|| self.session.clone()),
            authority: self.authority,
            everywhere: true,
        }
    }

    /// The authority that the caller has in a session.
    pub(crate) fn authority_within(&self, state: &State, session: Option<&str>) -> u8 {
        let known = state.agents.get(&self.agent).map_or(self.authority, |it| it.authority);
        authority_in(state, &self.agent, known.min(self.authority), session)
    }

    pub(crate) fn require(&self, authority: u8) -> Result<(), HarnError> {
        if self.authority >= authority {
            return Ok(());
        }
        let message = format!("this needs authority {authority}");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
    }
}
