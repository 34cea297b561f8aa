//! Sends a command to its operation's rule. Every match is exhaustive: a new action does not compile
//! until it has a rule, an idempotency rule and a place in the error table.

use quipu_log::{DraftEvent, Header};
use quipu_wire::ErrorCode;

use super::{
    command::{Action, Command},
    compact, coordinate, deregister, handoff, harn, least_authority, merge, record, register,
    restore, retract, session, subscribe, type_authority,
};
use crate::{
    event::Event,
    state::{AgentEntry, State},
};

/// Why a command was refused: because of what it asks for, never because something failed here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("agent_id: {agent} is not a registered agent")]
    AgentNotRegistered { agent: String },
    #[error("this needs authority {needed}, and {agent} has {authority}")]
    InsufficientAuthority { agent: String, authority: u8, needed: u8 },
    #[error(
        "{agent} was registered with authority {needed}, and a key for any agent with {authority} cannot speak for it"
    )]
    NameOfStronger {
        agent: String,
        /// What the key has.
        authority: u8,
        /// What the agent has.
        needed: u8,
    },
    #[error("id: {id} was used by {agent} for another message")]
    MessageIdReused { id: String, agent: String },
    #[error(transparent)]
    Register(#[from] register::Error),
    #[error(transparent)]
    Record(#[from] record::Error),
    #[error(transparent)]
    Detect(#[from] super::detect::Error),
    #[error(transparent)]
    Merge(#[from] merge::Error),
    #[error(transparent)]
    Retract(#[from] retract::Error),
    #[error(transparent)]
    Restore(#[from] restore::Error),
    #[error(transparent)]
    TypeAuthority(#[from] type_authority::Error),
    #[error(transparent)]
    Session(#[from] session::Error),
    #[error(transparent)]
    Coordinate(#[from] coordinate::Error),
    #[error(transparent)]
    Handoff(#[from] handoff::Error),
    #[error(transparent)]
    Harn(#[from] harn::Error),
    #[error(transparent)]
    Visibility(#[from] crate::visibility::Error),
    #[error(transparent)]
    Replay(#[from] super::replay::Error),
    #[error(transparent)]
    Compact(#[from] compact::Error),
    #[error(transparent)]
    Subscribe(#[from] subscribe::Error),
}

impl Refusal {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::AgentNotRegistered { .. } => ErrorCode::AgentNotRegistered,
            Self::InsufficientAuthority { .. } | Self::NameOfStronger { .. } => {
                ErrorCode::InsufficientAuthority
            }
            Self::MessageIdReused { .. } => ErrorCode::MessageIdReused,
            Self::Register(error) => error.code(),
            Self::Record(error) => error.code(),
            Self::Detect(error) => error.code(),
            Self::Merge(error) => error.code(),
            Self::Retract(error) => error.code(),
            Self::Restore(error) => error.code(),
            Self::TypeAuthority(error) => error.code(),
            Self::Session(error) => error.code(),
            Self::Coordinate(error) => error.code(),
            Self::Handoff(error) => error.code(),
            Self::Harn(error) => error.code(),
            Self::Visibility(error) => error.code(),
            Self::Replay(error) => error.code(),
            Self::Compact(error) => error.code(),
            Self::Subscribe(error) => error.code(),
        }
    }
}

/// The events of a decision, in order.
pub type Decision = Vec<DraftEvent<Event>>;

/// Checks that the sender takes part and may do what needs `needed`. An agent's authority is what it
/// was registered with, and never above its credential's.
pub fn admit<'state>(
    state: &'state State,
    agent: &str,
    credential: u8,
    needed: u8,
) -> Result<&'state AgentEntry, Refusal> {
    let entry = state
        .agents
        .live(agent)
        .ok_or_else(|| Refusal::AgentNotRegistered { agent: agent.to_owned() })?;
    let authority = entry.authority.min(credential);
    if authority < needed {
        return Err(Refusal::InsufficientAuthority { agent: agent.to_owned(), authority, needed });
    }
    Ok(entry)
}

/// Checks that a key which may speak for any agent speaks for none that was registered with more authority than it
/// has, also where that one has left: in its sessions, tasks and votes it would be what it is not.
pub fn may_borrow(state: &State, agent: &str, credential: u8) -> Result<(), Refusal> {
    match state.agents.get(agent) {
        Some(entry) if entry.authority > credential => Err(Refusal::NameOfStronger {
            agent: agent.to_owned(),
            authority: credential,
            needed: entry.authority,
        }),
        Some(_) | None => Ok(()),
    }
}

/// The rule: what happens when this command meets this state.
pub fn decide(state: &State, command: &Command) -> Result<Decision, Refusal> {
    let now_ms = command.time_ms;
    match &command.action {
        Action::Register(register) => register::decide(state, &command.message, register),
        Action::Deregister(payload) => deregister::decide(state, &command.message, payload),
        Action::Record(units) => record::decide(state, &command.message, now_ms, units),
        Action::Merge(merge) => merge::decide(state, &command.message, now_ms, merge),
        Action::Retract(retract) => retract::decide(state, &command.message, now_ms, retract),
        Action::Restore(restore) => restore::decide(state, &command.message, now_ms, restore),
        Action::SetLeastAuthority(least) => least_authority::decide(state, &command.message, least),
        Action::NoteConflicts(found) => super::detect::note(state, found),
        Action::NoteEnriched(units) => super::enrich::note(state, units),
        Action::Session(session) => session::decide(state, &command.message, session),
        Action::Coordinate(task) => {
            coordinate::decide(state, &command.message, command.time_ms, task)
        }
        Action::Handoff(handoff) => handoff::decide(state, &command.message, handoff),
        Action::Harn(harn) => harn::decide(state, &command.message, command.time_ms, harn),
        Action::ExpireLeases => Ok(coordinate::expire(state, command.time_ms)),
        Action::Compact(compact) => compact::decide(state, &command.message, compact),
        Action::Subscribe(subscribe) => subscribe::decide(state, &command.message, subscribe),
        Action::TraceAttune(trace) => super::trace::decide(state, &command.message, trace),
        Action::AdvanceClock(reason) => {
            Ok(vec![DraftEvent { event: Event::ClockAdvanced { reason: *reason }, body: None }])
        }
    }
}

/// Whether a message that carries an id seen before asks for what was done then.
#[must_use]
pub fn is_same_request(
    command: &Command,
    header: &Header<Event>,
    commit: &quipu_log::Commit,
) -> bool {
    match &command.action {
        Action::Register(register) => register::is_same(&register.payload, &header.events),
        Action::Deregister(payload) => deregister::is_same(payload, &header.events),
        Action::Record(units) => record::is_same(units, header, commit),
        Action::Merge(merge) => merge::is_same(merge, header, commit),
        Action::Retract(retract) => retract::is_same(retract, header, commit),
        Action::Restore(restore) => restore::is_same(restore, header, commit),
        Action::SetLeastAuthority(least) => least_authority::is_same(least, header, commit),
        Action::Session(session) => session::is_same(session, header, commit),
        Action::Coordinate(task) => coordinate::is_same(task, header, commit),
        Action::Handoff(handoff) => handoff::is_same(handoff, header, commit),
        Action::Harn(harn) => harn::is_same(harn, &header.events),
        Action::Compact(compact) => compact::is_same(compact, &header.events),
        Action::Subscribe(subscribe) => subscribe::is_same(subscribe, &header.events),
        Action::NoteConflicts(_)
        | Action::NoteEnriched(_)
        | Action::ExpireLeases
        | Action::TraceAttune(_)
        | Action::AdvanceClock(_) => false,
    }
}
