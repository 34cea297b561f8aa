//! The acts of this protocol: what opens or closes a session, and what moves a task. They are COORDINATE's
//! and SESSION's moves; a worker's claim is claim and start in one, because this protocol knows no task that
//! is taken and not begun.

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::{JoinRule, SessionPolicy, SessionStatus, TaskStatus};

use super::{Error, FIELD_AGENT, ImportedTask, import};
use crate::{
    event::{
        Event,
        coordination::{Lease, SessionChange, TaskCause, TaskChange},
        documents::DocumentKind,
    },
    ids::UnitId,
    message::Message,
    rules::Decision,
    rules::{
        Refusal,
        task_events::{self, Destination, Moves},
    },
    state::{State, TaskEntry},
    visibility::{self, authority_in},
};

/// The authority to move the tasks of others.
pub const AUTHORITY_OTHERS: u8 = 8;

/// Something that moves a session or a task.
#[derive(Debug, Clone)]
pub enum HarnAct {
    /// Opens a session.
    OpenSession {
        /// Its id.
        session: String,
        /// Its rules.
        policy: SessionPolicy,
        /// A [`SessionBody`](crate::event::coordination::SessionBody).
        body: Body,
    },
    /// Moves nothing: who speaks in a session that anybody may join becomes a member of it.
    EnterSession {
        /// Its id.
        session: String,
    },
    /// Ends a session, and calls off what is open in it.
    CloseSession {
        /// Its id.
        session: String,
    },
    /// Makes a task in the message's session.
    SubmitTask {
        /// Its id.
        task: String,
        /// Whether the Field itself works on it, at once.
        by_field: bool,
        /// A [`TaskBody`](crate::event::coordination::TaskBody).
        body: Body,
    },
    /// Brings a finished task here from another server.
    ImportTask(Box<ImportedTask>),
    /// Takes a task and begins; from whoever has it already, a sign of life.
    ClaimTask {
        /// Its id.
        task: String,
        /// How long without another sign.
        lease_ms: u64,
    },
    /// Moves nothing, and checks that the actor works on the task.
    WorkOn {
        /// Its id.
        task: String,
    },
    /// The task waits for input, or for somebody to allow something.
    Await {
        /// Its id.
        task: String,
        /// Whether for somebody to allow something.
        auth: bool,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    /// It waits no longer.
    Resume {
        /// Its id.
        task: String,
    },
    /// Somebody outside answers what a task of the Field's own waits for: it goes on.
    Answer {
        /// Its id.
        task: String,
    },
    /// It is done.
    Complete {
        /// Its id.
        task: String,
        /// The units that came of it.
        results: Vec<UnitId>,
    },
    /// It failed.
    Fail {
        /// Its id.
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    /// It is called off.
    Cancel {
        /// Its id.
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody), where a reason was given.
        body: Option<Body>,
    },
}

impl HarnAct {
    /// The session or task that it makes, or the session that it enters: the act itself says who may write
    /// there.
    #[must_use]
    pub fn made(&self) -> Option<&str> {
        match self {
            Self::OpenSession { session, .. } | Self::EnterSession { session } => Some(session),
            Self::SubmitTask { task, .. } => Some(task),
            Self::ImportTask(imported) => Some(&imported.task),
            Self::CloseSession { .. }
            | Self::ClaimTask { .. }
            | Self::WorkOn { .. }
            | Self::Await { .. }
            | Self::Resume { .. }
            | Self::Answer { .. }
            | Self::Complete { .. }
            | Self::Fail { .. }
            | Self::Cancel { .. } => None,
        }
    }

    /// The session that the actor may write in once this is decided.
    #[must_use]
    pub fn enters<'a>(&'a self, message: &'a Message) -> Option<&'a str> {
        if let Self::SubmitTask { .. } = self {
            return message.session.as_deref();
        }
        self.made()
    }

    /// Whether it ends a task.
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        match self {
            Self::Complete { .. } | Self::Fail { .. } | Self::Cancel { .. } => true,
            Self::OpenSession { .. }
            | Self::EnterSession { .. }
            | Self::CloseSession { .. }
            | Self::SubmitTask { .. }
            | Self::ImportTask(_)
            | Self::ClaimTask { .. }
            | Self::WorkOn { .. }
            | Self::Await { .. }
            | Self::Resume { .. }
            | Self::Answer { .. } => false,
        }
    }
}

pub(super) fn decide(
    state: &State,
    message: &Message,
    authority: u8,
    time_ms: u64,
    act: &HarnAct,
) -> Result<Decision, Refusal> {
    match act {
        HarnAct::OpenSession { session, policy, body } => open(state, session, policy, body),
        HarnAct::EnterSession { session } => join(state, message, Some(session)),
        HarnAct::CloseSession { session } => close(state, message, authority, session),
        HarnAct::SubmitTask { task, by_field, body } => {
            submit(state, message, task, *by_field, body)
        }
        HarnAct::ImportTask(imported) => import::decide(state, message, authority, imported),
        HarnAct::ClaimTask { task, lease_ms } => claim(state, message, time_ms, task, *lease_ms),
        HarnAct::WorkOn { task } => {
            let entry = working(state, message, authority, task)?;
            Ok(sign_of_life(time_ms, task, entry))
        }
        HarnAct::Await { task, auth, body } => {
            let entry = working(state, message, authority, task)?;
            let cause = if *auth { TaskCause::AwaitAuth } else { TaskCause::Block };
            let to = Destination {
                to: TaskStatus::Blocked,
                lease: entry.lease,
                body: Some(body.clone()),
                ..kept(cause, entry)
            };
            Ok(moved(state, task, entry, to))
        }
        HarnAct::Resume { task } => resume(state, message, authority, task),
        HarnAct::Answer { task } => answer(state, message, task),
        HarnAct::Complete { task, results } => {
            let entry = working(state, message, authority, task)?;
            let to = Destination {
                to: TaskStatus::Completed,
                results: results.clone(),
                ..kept(TaskCause::Complete, entry)
            };
            Ok(moved(state, task, entry, to))
        }
        HarnAct::Fail { task, body } => {
            let entry = working(state, message, authority, task)?;
            let to = Destination {
                to: TaskStatus::Failed,
                body: Some(body.clone()),
                ..kept(TaskCause::Fail, entry)
            };
            Ok(moved(state, task, entry, to))
        }
        HarnAct::Cancel { task, body } => cancel(state, message, authority, task, body.clone()),
    }
}

fn open(
    state: &State,
    session: &str,
    policy: &SessionPolicy,
    body: &Body,
) -> Result<Decision, Refusal> {
    let labelled = state.names.find(session).is_some();
    if labelled || state.sessions.get(session).is_some() {
        let id = session.to_owned();
        return Err(Error::IdTaken { kind: DocumentKind::Session, id }.into());
    }
    let change = SessionChange::Created { policy: policy.clone() };
    let event = Event::SessionChanged { session: session.to_owned(), change };
    Ok(vec![DraftEvent { event, body: Some(body.clone()) }])
}

fn close(
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

fn submit(
    state: &State,
    message: &Message,
    task: &str,
    by_field: bool,
    body: &Body,
) -> Result<Decision, Refusal> {
    let mut events = join(state, message, message.session.as_deref())?;
    if state.tasks.get(task).is_some() {
        return Err(Error::IdTaken { kind: DocumentKind::Task, id: task.to_owned() }.into());
    }
    let created =
        TaskChange::Created { assignee: None, depends_on: Vec::new(), priority: 5, lease: None };
    let changed = |change| Event::TaskChanged { task: task.to_owned(), change };
    events.push(DraftEvent { event: changed(created), body: Some(body.clone()) });
    if by_field {
        let begun = |cause, from, to| TaskChange::Moved {
            cause,
            from,
            to,
            assignee: Some(FIELD_AGENT.to_owned()),
            needs_reassignment: false,
            results: Vec::new(),
            lease: None,
        };
        let taken = begun(TaskCause::Claim, TaskStatus::Pending, TaskStatus::Assigned);
        let started = begun(TaskCause::Start, TaskStatus::Assigned, TaskStatus::InProgress);
        let moves = [taken, started].map(changed);
        events.extend(moves.map(|event| DraftEvent { event, body: None }));
    }
    Ok(events)
}

fn claim(
    state: &State,
    message: &Message,
    time_ms: u64,
    task: &str,
    lease_ms: u64,
) -> Result<Decision, Refusal> {
    let agent = message.agent.as_str();
    let entry = reach(state, message, task)?;
    let lease = Some(Lease { length_ms: lease_ms, until_ms: time_ms.saturating_add(lease_ms) });
    let mine = entry.assigned_to.as_deref() == Some(agent);
    match (entry.status, mine) {
        (TaskStatus::Pending, _) | (TaskStatus::Assigned, true) => {}
        (TaskStatus::InProgress | TaskStatus::Blocked, true) => {
            let to = Destination { to: entry.status, lease, ..kept(TaskCause::Renew, entry) };
            return Ok(moved(state, task, entry, to));
        }
        (TaskStatus::Assigned | TaskStatus::InProgress | TaskStatus::Blocked, false) => {
            let holder = entry.assigned_to.clone().unwrap_or_default();
            return Err(Error::Held { task: task.to_owned(), holder }.into());
        }
        (TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled, _) => {
            return Err(illegal(task, entry, "claimed"));
        }
    }
    let mut events = join(state, message, entry.session.as_deref())?;
    let assignee = || Some(agent.to_owned());
    let mut moves = Moves::default();
    let mut now = entry.clone();
    if now.status == TaskStatus::Pending {
        let taken = Destination {
            to: TaskStatus::Assigned,
            assignee: assignee(),
            lease,
            ..kept(TaskCause::Claim, entry)
        };
        moves.task(task, &now, taken);
        (now.status, now.assigned_to) = (TaskStatus::Assigned, assignee());
    }
    let begun = Destination {
        to: TaskStatus::InProgress,
        assignee: assignee(),
        lease,
        ..kept(TaskCause::Start, entry)
    };
    moves.task(task, &now, begun);
    events.extend(moves.finish(state));
    Ok(events)
}

/// Whoever makes or takes a task of an open session becomes a member of it.
fn join(state: &State, message: &Message, session: Option<&str>) -> Result<Decision, Refusal> {
    visibility::is_active(state, session)?;
    let Some((id, entry)) = session.and_then(|id| Some((id, state.sessions.get(id)?))) else {
        return Ok(Vec::new());
    };
    if entry.members.contains(&message.agent) {
        return Ok(Vec::new());
    }
    if entry.policy.join != JoinRule::Open {
        visibility::may_enter(state, message.speaker(), session)?;
        return Ok(Vec::new());
    }
    let change = SessionChange::Joined { agent: message.agent.clone() };
    let event = Event::SessionChanged { session: id.to_owned(), change };
    Ok(vec![DraftEvent { event, body: None }])
}

fn resume(
    state: &State,
    message: &Message,
    authority: u8,
    task: &str,
) -> Result<Decision, Refusal> {
    let entry = reach(state, message, task)?;
    if entry.status != TaskStatus::Blocked {
        return Err(illegal(task, entry, "resumed"));
    }
    may_move(state, message, authority, task, entry)?;
    let to = Destination {
        to: TaskStatus::InProgress,
        lease: entry.lease,
        ..kept(TaskCause::Unblock, entry)
    };
    Ok(moved(state, task, entry, to))
}

/// Whoever may write in the session may answer: the Field asks everybody there.
fn answer(state: &State, message: &Message, task: &str) -> Result<Decision, Refusal> {
    let entry = reach(state, message, task)?;
    let asks = entry.status == TaskStatus::Blocked && !entry.awaits_auth;
    if !asks || entry.assigned_to.as_deref() != Some(FIELD_AGENT) {
        return Err(illegal(task, entry, "answered"));
    }
    let mut events = join(state, message, entry.session.as_deref())?;
    let to = Destination { to: TaskStatus::InProgress, ..kept(TaskCause::Unblock, entry) };
    events.extend(moved(state, task, entry, to));
    Ok(events)
}

fn cancel(
    state: &State,
    message: &Message,
    authority: u8,
    task: &str,
    body: Option<Body>,
) -> Result<Decision, Refusal> {
    let entry = reach(state, message, task)?;
    may_move(state, message, authority, task, entry)?;
    match entry.status {
        TaskStatus::Pending
        | TaskStatus::Assigned
        | TaskStatus::InProgress
        | TaskStatus::Blocked => {}
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => {
            return Err(illegal(task, entry, "canceled"));
        }
    }
    let to = Destination { body, ..Destination::cancelled(TaskCause::Cancel, entry) };
    let mut moves = Moves::default();
    moves.task(task, entry, to);
    task_events::expire_offers(state, task, &mut moves);
    Ok(moves.finish(state))
}

/// Who has a task, who made it, and who may move the tasks of others.
fn may_move(
    state: &State,
    message: &Message,
    authority: u8,
    task: &str,
    entry: &TaskEntry,
) -> Result<(), Refusal> {
    let agent = &message.agent;
    let own = authority_in(state, agent, authority, entry.session.as_deref());
    let has = entry.assigned_to.as_ref() == Some(agent) || entry.created_by == *agent;
    if has || own >= AUTHORITY_OTHERS {
        return Ok(());
    }
    Err(Error::OfOthers { task: task.to_owned(), agent: agent.clone() }.into())
}

/// The task, if the actor works on it.
fn working<'s>(
    state: &'s State,
    message: &Message,
    authority: u8,
    task: &str,
) -> Result<&'s TaskEntry, Refusal> {
    let entry = reach(state, message, task)?;
    if entry.status != TaskStatus::InProgress {
        return Err(illegal(task, entry, "worked on"));
    }
    let holds = entry.assigned_to.as_deref() == Some(message.agent.as_str());
    let own = authority_in(state, &message.agent, authority, entry.session.as_deref());
    if holds || own >= AUTHORITY_OTHERS {
        return Ok(entry);
    }
    Err(Error::NotHeld { task: task.to_owned(), agent: message.agent.clone() }.into())
}

/// The task, if the actor may know of it: it belongs to no session, to one of the actor's, or to one that
/// anybody may join.
fn reach<'s>(state: &'s State, message: &Message, task: &str) -> Result<&'s TaskEntry, Refusal> {
    let missing = || Error::NotFound { kind: DocumentKind::Task, id: task.to_owned() };
    let entry = state.tasks.get(task).ok_or_else(missing)?;
    let session = entry.session.as_deref().and_then(|id| state.sessions.get(id));
    let known = session.is_none_or(|session| {
        message.agent == FIELD_AGENT
            || visibility::may_know(session, &message.agent, message.authority)
    });
    if known { Ok(entry) } else { Err(missing().into()) }
}

/// A destination that keeps who has the task and what came of it.
fn kept(cause: TaskCause, entry: &TaskEntry) -> Destination {
    Destination {
        assignee: entry.assigned_to.clone(),
        results: entry.results.clone(),
        needs_reassignment: false,
        ..Destination::lost(cause)
    }
}

fn moved(state: &State, task: &str, entry: &TaskEntry, to: Destination) -> Decision {
    let mut moves = Moves::default();
    moves.task(task, entry, to);
    moves.finish(state)
}

/// Work is a sign of life. It is noted when half of the lease is gone: more often would only fill the log.
fn sign_of_life(time_ms: u64, task: &str, entry: &TaskEntry) -> Decision {
    let Some(lease) = entry.lease else { return Vec::new() };
    if lease.until_ms.saturating_sub(time_ms) > lease.length_ms / 2 {
        return Vec::new();
    }
    let until_ms = time_ms.saturating_add(lease.length_ms);
    let change = TaskChange::Moved {
        cause: TaskCause::Renew,
        from: entry.status,
        to: entry.status,
        assignee: entry.assigned_to.clone(),
        needs_reassignment: false,
        results: entry.results.clone(),
        lease: Some(Lease { length_ms: lease.length_ms, until_ms }),
    };
    let event = Event::TaskChanged { task: task.to_owned(), change };
    vec![DraftEvent { event, body: None }]
}

fn illegal(task: &str, entry: &TaskEntry, wanted: &'static str) -> Refusal {
    Error::IllegalMove { task: task.to_owned(), status: entry.status, wanted }.into()
}
