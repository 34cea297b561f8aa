//! Who may speak, read and write where: session membership and authority. The rules are in
//! `docs/protocol/visibility.md`.

use quipu_wire::{
    ErrorCode,
    akashik::{JoinRule, SessionStatus},
    limits::AUTHORITY_MAX,
};

use super::{
    Sight, Viewpoint,
    copies::{is_out_of_original, join_rule},
};
use crate::{
    ids::SessionId,
    state::{SessionEntry, State},
};

/// The authority that the creator of a session holds inside of it.
pub const CREATOR_AUTHORITY: u8 = 8;
/// The authority to read anything but the history.
pub const READ_AUTHORITY: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("session_id: {agent} is no member of {session}; join it first")]
    NotAMember { agent: String, session: String },
    /// There is no such session, or none that who speaks may know of: which of the two is not told.
    #[error("session_id: there is no session {session} that {agent} takes part in")]
    Unknown { agent: String, session: String },
    #[error("session_id: {session} is {status}, and nothing is written in it")]
    NotActive { session: String, status: SessionStatus },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotAMember { .. } | Self::Unknown { .. } => ErrorCode::InsufficientAuthority,
            Self::NotActive { .. } => ErrorCode::InvalidTransition,
        }
    }
}

/// An agent, and the credential that it speaks through: above its authority no agent has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speaker<'a> {
    pub agent: &'a str,
    /// The authority of the credential; none where the agent is only spoken of.
    pub credential: Option<u8>,
}

impl<'a> Speaker<'a> {
    /// An agent of whom no credential is known, because it is only spoken of.
    #[must_use]
    pub const fn named(agent: &'a str) -> Self {
        Self { agent, credential: None }
    }

    #[must_use]
    pub const fn through(agent: &'a str, credential: u8) -> Self {
        Self { agent, credential: Some(credential) }
    }

    /// What it has: what it was registered with, and no more than its credential. Who is not registered has what
    /// REGISTER would give it, which is the credential's.
    #[must_use]
    pub fn authority(self, state: &State) -> u8 {
        let own = state.agents.get(self.agent).map(|agent| agent.authority);
        match (own, self.credential) {
            (Some(own), Some(credential)) => own.min(credential),
            (Some(own), None) => own,
            (None, credential) => credential.unwrap_or(0),
        }
    }

    /// The human operator may enter every session.
    #[must_use]
    pub fn has_part(self, state: &State, session: &SessionEntry) -> bool {
        has_part(state, session, self.agent, self.authority(state))
    }
}

/// Whether who speaks in a session may see a unit, by its ordinal.
#[must_use]
pub fn may_see(state: &State, speaker: Speaker<'_>, session: Option<&str>, unit: u32) -> bool {
    Sight::at(state, speaker, Viewpoint::In(session)).sees(unit)
}

/// Checks that somebody may speak in a session at all. A session that SESSION never opened is a label
/// that anybody may use.
pub fn may_enter(state: &State, speaker: Speaker<'_>, session: Option<&str>) -> Result<(), Error> {
    let Some(id) = session else { return Ok(()) };
    let Some(entry) = state.sessions.get(id) else { return Ok(()) };
    if speaker.has_part(state, entry) {
        return Ok(());
    }
    let (agent, session) = (speaker.agent.to_owned(), id.to_owned());
    match may_know(state, entry, speaker.agent, speaker.authority(state)) {
        true => Err(Error::NotAMember { agent, session }),
        false => Err(Error::Unknown { agent, session }),
    }
}

/// Whether somebody may know that a session exists: anybody may join it, or it has to do with it.
#[must_use]
pub fn may_know(state: &State, session: &SessionEntry, agent: &str, authority: u8) -> bool {
    let its_own = || session.members.contains(agent) || session.creator == agent;
    authority >= CREATOR_AUTHORITY
        || join_rule(state, session) == JoinRule::Open
        || its_own() && !is_out_of_original(state, session, agent)
}

/// Checks that somebody may read in a session. To who may not know of it, it is a label that nobody
/// used: the read shows what belongs to no session, and does not tell that there is one.
pub fn may_read(state: &State, speaker: Speaker<'_>, session: Option<&str>) -> Result<(), Error> {
    let entry = session.and_then(|id| state.sessions.get(id));
    match entry {
        Some(entry) if !may_know(state, entry, speaker.agent, speaker.authority(state)) => Ok(()),
        Some(_) | None => may_enter(state, speaker, session),
    }
}

/// Checks that somebody may write in a session: it may speak there, and the session is active.
pub fn may_write(state: &State, speaker: Speaker<'_>, session: Option<&str>) -> Result<(), Error> {
    may_enter(state, speaker, session)?;
    is_active(state, session)
}

/// The same for the session that a message of Akashik names. An id as only we draw them is no label: where nobody opened
/// such a session, the answer is that of one which the sender may not know of, so that it tells neither.
pub fn may_write_within(
    state: &State,
    speaker: Speaker<'_>,
    session: Option<&str>,
) -> Result<(), Error> {
    let unknown = session.filter(|id| is_drawn(id) && state.sessions.get(id).is_none());
    if let Some(session) = unknown {
        let (agent, session) = (speaker.agent.to_owned(), session.to_owned());
        return Err(Error::Unknown { agent, session });
    }
    may_write(state, speaker, session)
}

/// Checks that somebody may change what was recorded in a session: as it may write there. Authority 10 may where nobody
/// writes any more, too.
pub fn may_change(state: &State, speaker: Speaker<'_>, session: Option<&str>) -> Result<(), Error> {
    if speaker.authority(state) >= AUTHORITY_MAX {
        return Ok(());
    }
    may_write(state, speaker, session)
}

/// Checks that what was recorded in a session may be put away or brought back from there: also in one that has ended, not
/// in one that is paused.
pub fn may_put_away(state: &State, session: Option<&str>) -> Result<(), Error> {
    let paused = session.and_then(|id| Some((id, state.sessions.get(id)?.status)));
    match paused {
        Some((id, status)) if status == SessionStatus::Paused => {
            Err(Error::NotActive { session: id.to_owned(), status })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether the id of a session is one that we drew, by either protocol, and not one that somebody chose.
#[must_use]
pub fn is_drawn(session: &str) -> bool {
    let letters = session.strip_prefix("session").and_then(|rest| rest.strip_prefix(['-', '_']));
    letters.is_some_and(|letters| SessionId::parse(&format!("session-{letters}")).is_some())
}

/// Checks that a session is one in which something is written: it is neither paused nor ended.
pub fn is_active(state: &State, session: Option<&str>) -> Result<(), Error> {
    let entry = session.and_then(|id| state.sessions.get(id).map(|entry| (id, entry)));
    match entry {
        Some((id, entry)) if entry.status != SessionStatus::Active => {
            Err(Error::NotActive { session: id.to_owned(), status: entry.status })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether who speaks in a session can reach what belongs to another one (a task, a handoff) by its
/// id.
#[must_use]
pub fn may_reach(
    state: &State,
    speaker: Speaker<'_>,
    session: Option<&str>,
    owner: Option<&str>,
) -> bool {
    let Some(id) = owner else { return true };
    match state.sessions.get(id) {
        Some(entry) => speaker.has_part(state, entry),
        None => session == Some(id) || speaker.authority(state) >= AUTHORITY_MAX,
    }
}

#[must_use]
pub fn authority_in(state: &State, agent: &str, own: u8, session: Option<&str>) -> u8 {
    let created = session
        .and_then(|id| state.sessions.get(id))
        .filter(|session| session.creator == agent)
        .is_some_and(|session| !is_out_of_original(state, session, agent));
    if created { own.max(CREATOR_AUTHORITY) } else { own }
}

/// Whether somebody is a member of a session, or the human operator.
pub(super) fn has_part(state: &State, session: &SessionEntry, agent: &str, authority: u8) -> bool {
    let is_member =
        || session.members.contains(agent) && !is_out_of_original(state, session, agent);
    authority >= AUTHORITY_MAX || is_member()
}
