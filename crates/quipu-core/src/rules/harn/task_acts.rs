//! The acts that make and move tasks.

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::TaskStatus;

use super::{AUTHORITY_OTHERS, Error, FIELD_AGENT, session_acts::join};
use crate::{
    event::{
        Event,
        coordination::{Lease, TaskCause, TaskChange, WorkTerms},
        documents::DocumentKind,
    },
    message::Message,
    rules::{
        Decision, Refusal,
        task_events::{self, Destination, Moves},
    },
    state::{State, TaskEntry},
    visibility::{self, authority_in},
};

pub(super) fn submit(
    state: &State,
    message: &Message,
    task: &str,
    by_field: bool,
    terms: Option<&WorkTerms>,
    body: &Body,
) -> Result<Decision, Refusal> {
    let mut events = join(state, message, message.session.as_deref())?;
    if state.tasks.is_taken(task) {
        return Err(Error::IdTaken { kind: DocumentKind::Task, id: task.to_owned() }.into());
    }
    let created = TaskChange::Created {
        assignee: None,
        depends_on: Vec::new(),
        priority: 5,
        lease: None,
        terms: terms.cloned(),
    };
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
            due_ms: None,
        };
        let taken = begun(TaskCause::Claim, TaskStatus::Pending, TaskStatus::Assigned);
        let started = begun(TaskCause::Start, TaskStatus::Assigned, TaskStatus::InProgress);
        let moves = [taken, started].map(changed);
        events.extend(moves.map(|event| DraftEvent { event, body: None }));
    }
    Ok(events)
}

pub(super) fn claim(
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

pub(super) fn resume(
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
pub(super) fn answer(state: &State, message: &Message, task: &str) -> Result<Decision, Refusal> {
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

pub(super) fn cancel(
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
pub(super) fn working<'s>(
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

/// The task, if the actor may know of it: it belongs to no session, or to one of the actor's.
pub(super) fn reach<'s>(
    state: &'s State,
    message: &Message,
    task: &str,
) -> Result<&'s TaskEntry, Refusal> {
    let missing = || Error::NotFound { kind: DocumentKind::Task, id: task.to_owned() };
    let entry = state.tasks.get(task).ok_or_else(missing)?;
    let (session, owner) = (message.session.as_deref(), entry.session.as_deref());
    let known = message.agent == FIELD_AGENT
        || visibility::may_reach(state, message.speaker(), session, owner);
    if known { Ok(entry) } else { Err(missing().into()) }
}

/// A destination that keeps who has the task and what came of it.
pub(super) fn kept(cause: TaskCause, entry: &TaskEntry) -> Destination {
    Destination {
        assignee: entry.assigned_to.clone(),
        results: entry.results.clone(),
        needs_reassignment: false,
        ..Destination::lost(cause)
    }
}

pub(super) fn moved(state: &State, task: &str, entry: &TaskEntry, to: Destination) -> Decision {
    let mut moves = Moves::default();
    moves.task(task, entry, to);
    moves.finish(state)
}

/// Work is a sign of life. It is noted when half of the lease is gone: more often would only fill the log.
pub(super) fn sign_of_life(time_ms: u64, task: &str, entry: &TaskEntry) -> Decision {
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
        due_ms: None,
    };
    let event = Event::TaskChanged { task: task.to_owned(), change };
    vec![DraftEvent { event, body: None }]
}

fn illegal(task: &str, entry: &TaskEntry, wanted: &'static str) -> Refusal {
    Error::IllegalMove { task: task.to_owned(), status: entry.status, wanted }.into()
}
