//! The acts that open, enter and end sessions.

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::{JoinRule, SessionPolicy, SessionStatus};

use super::{AUTHORITY_OTHERS, Error, FIELD_AGENT};
use crate::{
    event::{Event, coordination::SessionChange, documents::DocumentKind},
    message::Message,
    rules::{
        Decision, Refusal,
        session::{self, Doorkeeper},
        task_events,
    },
    state::State,
    visibility::{self, authority_in, join_rule},
};

pub(super) fn open(
    state: &State,
    session: &str,
    (policy, copy_of): (&SessionPolicy, Option<&str>),
    body: &Body,
) -> Result<Decision, Refusal> {
    let labelled = state.names.find(session).is_some();
    if labelled || state.sessions.get(session).is_some() {
        let id = session.to_owned();
        return Err(Error::IdTaken { kind: DocumentKind::Session, id }.into());
    }
    let change =
        SessionChange::Created { policy: policy.clone(), copy_of: copy_of.map(str::to_owned) };
    let event = Event::SessionChanged { session: session.to_owned(), change };
    Ok(vec![DraftEvent { event, body: Some(body.clone()) }])
}

pub(super) fn close(
    state: &State,
    message: &Message,
    authority: u8,
    session: &str,
) -> Result<Decision, Refusal> {
    let missing = || Error::NotFound { kind: DocumentKind::Session, id: session.to_owned() };
    let entry = state.sessions.get(session).ok_or_else(missing)?;
    visibility::may_enter(state, message.speaker(), Some(session))?;
    let own = authority_in(state, &message.agent, authority, Some(session));
    if own < AUTHORITY_OTHERS {
        let (agent, needed) = (message.agent.clone(), AUTHORITY_OTHERS);
        return Err(Refusal::InsufficientAuthority { agent, authority, needed });
    }
    if entry.status == SessionStatus::Ended {
        return Err(Error::SessionOver { session: session.to_owned() }.into());
    }
    let change = SessionChange::Moved { from: entry.status, to: SessionStatus::Ended };
    let event = Event::SessionChanged { session: session.to_owned(), change };
    let mut events = vec![DraftEvent { event, body: None }];
    events.extend(task_events::session_ended(state, session));
    Ok(events)
}

/// Whoever says something in a session that it may join, or works on what is there, becomes a member of it: as
/// SESSION's join has it, or not at all.
pub(super) fn join(
    state: &State,
    message: &Message,
    session: Option<&str>,
) -> Result<Decision, Refusal> {
    visibility::is_active(state, session)?;
    let Some((id, entry)) = session.and_then(|id| Some((id, state.sessions.get(id)?))) else {
        return Ok(Vec::new());
    };
    let (agent, speaker) = (message.agent.as_str(), message.speaker());
    if agent == FIELD_AGENT {
        return Ok(Vec::new());
    }
    if join_rule(state, entry) != JoinRule::Open {
        visibility::may_enter(state, speaker, session)?;
        return Ok(Vec::new());
    }
    let role = state.agents.live(agent).map_or("", |known| known.role.as_str());
    let doorkeeper = Doorkeeper { agent, role, authority: speaker.authority(state) };
    session::join(state, doorkeeper, id, agent)
}
