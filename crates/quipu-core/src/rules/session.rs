//! SESSION (our contract, `docs/protocol/session.md`): sessions are opened, joined, paused and ended.

use quipu_log::{Body, Commit, DraftEvent, Header};
use quipu_wire::{
    ErrorCode,
    akashik::{
        JoinRule, Session, SessionAction, SessionPayload, SessionPolicy, SessionResponse,
        SessionStatus,
    },
    json::canon::CanonError,
    limits::AUTHORITY_MAX,
};

use super::{Refusal, admit, narrowing::narrowed, same_text, task_events};
use crate::{
    event::{
        Event,
        coordination::{SessionBody, SessionChange},
    },
    ids::SessionId,
    limits::LIST_RETURNED_MAX,
    message::Message,
    origin::Origin,
    outline::SessionOutline,
    rules::Decision,
    state::{SessionEntry, State},
    visibility::{
        CREATOR_AUTHORITY, READ_AUTHORITY, authority_in, is_drawn, is_out, join_rule, may_know,
        originals,
    },
};

/// The session of Tasks that name none, in the Harn protocol. It is there from the start, so nobody opens it.
pub const BUILT_IN_SESSION: &str = "session_default";
/// The authority to read of sessions and to join them, and to open one.
pub const AUTHORITY_READ: u8 = READ_AUTHORITY;
const AUTHORITY_CREATE: u8 = 4;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.session_id: no session {session}")]
    NotFound { session: String },
    #[error(
        "payload.session_id: {session} is taken: by a session, by units that carry it as a label, or because the server makes such ids itself"
    )]
    IdTaken { session: String },
    #[error("payload.agent_id: {agent} is not a registered agent")]
    NoSuchAgent { agent: String },
    #[error(
        "payload.session_id: {session} is a copy of {original}, which {agent} left; let it into that one first"
    )]
    LeftOriginal { agent: String, session: String, original: String },
    #[error("payload.action: cannot {action} {session}, which is {status}")]
    IllegalMove { session: String, action: SessionAction, status: SessionStatus },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::NoSuchAgent { .. } => ErrorCode::UnitNotFound,
            Self::IdTaken { .. } | Self::LeftOriginal { .. } | Self::IllegalMove { .. } => {
                ErrorCode::InvalidTransition
            }
        }
    }
}

/// A SESSION with everything drawn for it.
#[derive(Debug, Clone)]
pub struct SessionCommand {
    payload: SessionPayload,
    id: String,
    body: Option<Body>,
}

impl SessionCommand {
    /// Draws the new session's id and seals its text.
    pub fn prepare(payload: SessionPayload, origin: &dyn Origin) -> Result<Self, CanonError> {
        let id = payload
            .session_id
            .clone()
            .unwrap_or_else(|| SessionId::from_bits(origin.id_bits()).to_string());
        let goal = (payload.action == SessionAction::Create)
            .then(|| payload.session.goal.clone())
            .flatten();
        let body = goal.map(|goal| Body::new(origin.salt(), &SessionBody { goal })).transpose()?;
        Ok(Self { payload, id, body })
    }
}

/// Whether an action only reads.
#[must_use]
pub const fn is_read(action: SessionAction) -> bool {
    matches!(action, SessionAction::Get | SessionAction::List)
}

/// The state machine: where an action takes a session, or `None` where it is illegal.
#[must_use]
pub const fn next_status(status: SessionStatus, action: SessionAction) -> Option<SessionStatus> {
    use SessionStatus::{Active, Ended, Paused};
    match (action, status) {
        (SessionAction::Pause, Active) => Some(Paused),
        (SessionAction::Resume, Paused) => Some(Active),
        (SessionAction::End, Active | Paused) => Some(Ended),
        (
            SessionAction::Join | SessionAction::Leave | SessionAction::SetPolicy,
            Active | Paused,
        ) => Some(status),
        _ => None,
    }
}

pub fn decide(
    state: &State,
    message: &Message,
    command: &SessionCommand,
) -> Result<Decision, Refusal> {
    let action = command.payload.action;
    if action == SessionAction::Create {
        return create(state, message, command);
    }
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_READ)?;
    let authority = sender.authority.min(message.authority);
    let id = command.id.as_str();
    let session = visible_session(state, &message.agent, authority, id)?;
    let whom = command.payload.agent_id.as_deref().unwrap_or(&message.agent);
    if action == SessionAction::Join {
        let doorkeeper = Doorkeeper { agent: &message.agent, role: &sender.role, authority };
        return join(state, doorkeeper, id, whom);
    }
    let needed =
        authority_needed(action, (session, join_rule(state, session)), &message.agent, whom);
    require(state, &message.agent, authority, id, needed)?;
    let Some(to) = next_status(session.status, action) else {
        let (session, status) = (id.to_owned(), session.status);
        return Err(Error::IllegalMove { session, action, status }.into());
    };
    change(state, command, session, whom, to)
}

/// Who lets somebody into a session, most often itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doorkeeper<'a> {
    pub(super) agent: &'a str,
    pub(super) role: &'a str,
    pub(super) authority: u8,
}

/// The one way to become a member of a session, in both protocols: its rules say who may let in whom. Nothing happens
/// where somebody is a member already.
pub(super) fn join(
    state: &State,
    doorkeeper: Doorkeeper<'_>,
    id: &str,
    whom: &str,
) -> Result<Decision, Refusal> {
    let Doorkeeper { agent, role, authority } = doorkeeper;
    let session = visible_session(state, agent, authority, id)?;
    let itself = whom == agent;
    let by_roles = if itself && changed_role(session, role, whom) {
        CREATOR_AUTHORITY
    } else {
        AUTHORITY_READ
    };
    let how = (session, join_rule(state, session));
    let needed = authority_needed(SessionAction::Join, how, agent, whom).max(by_roles);
    require(state, agent, authority, id, needed)?;
    let above_sessions = itself && authority >= AUTHORITY_MAX;
    for original in originals(state, session).filter(|_| !above_sessions) {
        may_let_into_copy(state, doorkeeper, (id, original), whom)?;
    }
    if next_status(session.status, SessionAction::Join).is_none() {
        let (session, action, status) = (id.to_owned(), SessionAction::Join, session.status);
        return Err(Error::IllegalMove { session, action, status }.into());
    }
    if session.members.contains(whom) {
        return Ok(Vec::new());
    }
    // Who lets itself in takes part, or does so from this commit on.
    if !itself && state.agents.live(whom).is_none() {
        return Err(Error::NoSuchAgent { agent: whom.to_owned() }.into());
    }
    Ok(vec![changed(id, SessionChange::Joined { agent: whom.to_owned() }, None)])
}

/// Checks that somebody may let another into a copy of a session: who is no member of the original is let in by who could
/// let it into that one, and who left that one is not.
fn may_let_into_copy(
    state: &State,
    doorkeeper: Doorkeeper<'_>,
    (copy, (id, original)): (&str, (&str, &SessionEntry)),
    whom: &str,
) -> Result<(), Refusal> {
    if original.policy.join == JoinRule::Open || original.members.contains(whom) {
        return Ok(());
    }
    if is_out(original, whom) {
        let (agent, session, original) = (whom.to_owned(), copy.to_owned(), id.to_owned());
        return Err(Error::LeftOriginal { agent, session, original }.into());
    }
    let Doorkeeper { agent, authority, .. } = doorkeeper;
    let how = (original, JoinRule::Invite);
    let needed = authority_needed(SessionAction::Join, how, agent, whom);
    require(state, agent, authority, id, needed)
}

/// Checks that somebody has an authority inside of a session.
fn require(
    state: &State,
    agent: &str,
    authority: u8,
    session: &str,
    needed: u8,
) -> Result<(), Refusal> {
    if authority_in(state, agent, authority, Some(session)) >= needed {
        return Ok(());
    }
    Err(Refusal::InsufficientAuthority { agent: agent.to_owned(), authority, needed })
}

fn create(state: &State, message: &Message, command: &SessionCommand) -> Result<Decision, Refusal> {
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_CREATE)?;
    let id = &command.id;
    // What carries the label would become the new session's own, out of sight of others.
    let of_units = || state.names.find(id).is_some_and(|name| state.units.has_session(name));
    let label = Some(id.as_str());
    let of_tasks = || state.tasks.iter().any(|(_, task)| task.session.as_deref() == label);
    let of_handoffs = || state.handoffs.iter().any(|(_, it)| it.session.as_deref() == label);
    let labelled = || of_units() || of_tasks() || of_handoffs();
    let may_take_over = sender.authority.min(message.authority) >= CREATOR_AUTHORITY;
    // Whoever chooses an id like ours could ask in this way whether there is one.
    let like_ours = command.payload.session_id.as_deref().is_some_and(is_drawn);
    let is_ours = like_ours || id == BUILT_IN_SESSION;
    if is_ours || state.sessions.get(id).is_some() || (!may_take_over && labelled()) {
        return Err(Error::IdTaken { session: id.clone() }.into());
    }
    let policy = command.payload.session.policy.clone().unwrap_or_default();
    let follows = narrowed(state, id, &policy);
    let mut events =
        vec![changed(id, SessionChange::Created { policy, copy_of: None }, command.body.clone())];
    events.extend(follows);
    Ok(events)
}

/// Whether somebody left under another role than it has now. Where rules go by roles it does not let
/// itself in again: that would be a way around them.
fn changed_role(session: &SessionEntry, role: &str, whom: &str) -> bool {
    !session.policy.visibility_rules.is_empty()
        && !session.members.contains(whom)
        && session.left_as.get(whom).is_some_and(|then| then != role)
}

fn authority_needed(
    action: SessionAction,
    (session, join): (&SessionEntry, JoinRule),
    agent: &str,
    whom: &str,
) -> u8 {
    let itself = whom == agent;
    let invited = session.creator == agent || session.members.contains(agent);
    match action {
        // Who was not invited opens the door neither for itself nor for others.
        SessionAction::Join | SessionAction::SetPolicy if join == JoinRule::Invite && !invited => {
            AUTHORITY_MAX
        }
        SessionAction::Join if itself && join == JoinRule::Open => AUTHORITY_READ,
        SessionAction::Leave if itself => AUTHORITY_READ,
        SessionAction::Get | SessionAction::List => AUTHORITY_READ,
        SessionAction::Create => AUTHORITY_CREATE,
        SessionAction::Join
        | SessionAction::Leave
        | SessionAction::Pause
        | SessionAction::Resume
        | SessionAction::End
        | SessionAction::SetPolicy => CREATOR_AUTHORITY,
    }
}

fn change(
    state: &State,
    command: &SessionCommand,
    session: &SessionEntry,
    whom: &str,
    to: SessionStatus,
) -> Result<Decision, Refusal> {
    let id = &command.id;
    let change = match command.payload.action {
        SessionAction::Leave if !session.members.contains(whom) => return Ok(Vec::new()),
        SessionAction::Leave => SessionChange::Left { agent: whom.to_owned() },
        SessionAction::SetPolicy => SessionChange::PolicySet { policy: requested_policy(command) },
        SessionAction::Pause | SessionAction::Resume | SessionAction::End => {
            SessionChange::Moved { from: session.status, to }
        }
        SessionAction::Create | SessionAction::Join | SessionAction::Get | SessionAction::List => {
            return Ok(Vec::new());
        }
    };
    let follows = match &change {
        SessionChange::PolicySet { policy } => narrowed(state, id, policy),
        SessionChange::Created { .. }
        | SessionChange::Joined { .. }
        | SessionChange::Left { .. }
        | SessionChange::Moved { .. } => Decision::new(),
    };
    let mut events = vec![changed(id, change, None)];
    events.extend(follows);
    if to == SessionStatus::Ended {
        events.extend(task_events::session_ended(state, id));
    }
    Ok(events)
}

fn requested_policy(command: &SessionCommand) -> SessionPolicy {
    command.payload.session.policy.clone().unwrap_or_default()
}

fn changed(session: &str, change: SessionChange, body: Option<Body>) -> DraftEvent<Event> {
    DraftEvent { event: Event::SessionChanged { session: session.to_owned(), change }, body }
}

/// The session, if the sender may know of it: one that anybody may join, or one of its own.
fn visible_session<'s>(
    state: &'s State,
    agent: &str,
    authority: u8,
    id: &str,
) -> Result<&'s SessionEntry, Refusal> {
    state
        .sessions
        .get(id)
        .filter(|session| may_know(state, session, agent, authority))
        .ok_or_else(|| Error::NotFound { session: id.to_owned() }.into())
}

pub(super) fn is_same(command: &SessionCommand, header: &Header<Event>, commit: &Commit) -> bool {
    let payload = &command.payload;
    let whom = payload.agent_id.as_deref().unwrap_or(&header.actor);
    let Some(Event::SessionChanged { session, change }) =
        header.events.first().map(|sealed| &sealed.event)
    else {
        return false;
    };
    let same_session = payload.session_id.as_ref().is_none_or(|id| id == session);
    let same_change = match change {
        SessionChange::Created { policy, copy_of: _ } => {
            payload.action == SessionAction::Create && *policy == requested_policy(command)
        }
        SessionChange::Joined { agent } => payload.action == SessionAction::Join && agent == whom,
        SessionChange::Left { agent } => payload.action == SessionAction::Leave && agent == whom,
        SessionChange::Moved { from, to } => next_status(*from, payload.action) == Some(*to),
        SessionChange::PolicySet { policy } => {
            payload.action == SessionAction::SetPolicy && *policy == requested_policy(command)
        }
    };
    same_session && same_change && same_text(command.body.as_ref(), commit)
}

/// The session that a commit changed.
#[must_use]
pub fn subject(events: &[quipu_log::SealedEvent<Event>]) -> Option<&str> {
    events.iter().find_map(|sealed| {
        let Event::SessionChanged { session, .. } = &sealed.event else { return None };
        Some(session.as_str())
    })
}

/// What `get` and `list` answer with: one session, or all that the sender may know of.
pub fn read(
    state: &State,
    message: &Message,
    payload: &SessionPayload,
) -> Result<Vec<SessionOutline>, Refusal> {
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_READ)?;
    let authority = sender.authority.min(message.authority);
    if let (SessionAction::Get, Some(id)) = (payload.action, &payload.session_id) {
        let entry = visible_session(state, &message.agent, authority, id)?;
        return Ok(vec![SessionOutline::of(id, entry)]);
    }
    Ok(state
        .sessions
        .iter()
        .filter(|(_, session)| may_know(state, session, &message.agent, authority))
        .take(LIST_RETURNED_MAX)
        .map(|(id, session)| SessionOutline::of(id, session))
        .collect())
}

#[must_use]
pub fn respond(action: SessionAction, mut sessions: Vec<Session>) -> SessionResponse {
    let status = "ok".to_owned();
    let (session, sessions) =
        if action == SessionAction::List { (None, Some(sessions)) } else { (sessions.pop(), None) };
    SessionResponse { status, session, sessions, warnings: Vec::new() }
}
