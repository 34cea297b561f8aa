//! The acts of a worker that keeps a task by a sign of life, or ends an attempt without ending the task.

use quipu_log::Body;
use quipu_wire::akashik::TaskStatus;

use super::{
    Error,
    task_acts::{kept, moved, reach},
};
use crate::{
    event::coordination::{Lease, TaskCause},
    message::Message,
    rules::{
        Decision, Refusal,
        task_events::{self, Destination},
    },
    state::{State, TaskEntry, is_held},
};

/// For the holder alone: whoever lost the task does not get it back by saying that it is there. As long as more than
/// half of the lease is left nothing is written: more would only fill the log.
pub(super) fn renew(
    state: &State,
    message: &Message,
    time_ms: u64,
    task: &str,
    lease_ms: Option<u64>,
) -> Result<Decision, Refusal> {
    let entry = reach(state, message, task)?;
    if !is_held(entry.status) {
        let (task, status) = (task.to_owned(), entry.status);
        return Err(Error::IllegalMove { task, status, wanted: "kept" }.into());
    }
    if entry.assigned_to.as_deref() != Some(message.agent.as_str()) {
        let (task, agent) = (task.to_owned(), message.agent.clone());
        return Err(Error::NotHeld { task, agent }.into());
    }
    let Some(length_ms) = lease_ms.or_else(|| entry.lease.map(|lease| lease.length_ms)) else {
        return Ok(Vec::new());
    };
    let is_enough = entry.lease.is_some_and(|lease| {
        lease.length_ms == length_ms && lease.until_ms.saturating_sub(time_ms) > length_ms / 2
    });
    if is_enough {
        return Ok(Vec::new());
    }
    let lease = Some(Lease { length_ms, until_ms: time_ms.saturating_add(length_ms) });
    let to = Destination { to: entry.status, lease, ..kept(TaskCause::Renew, entry) };
    Ok(moved(state, task, entry, to))
}

/// Back to the pool, not to be given out before its pause is over. Refused where no attempt is left: the task is then
/// to be given up.
pub(super) fn fail_attempt(
    state: &State,
    time_ms: u64,
    task: &str,
    entry: &TaskEntry,
    body: &Body,
) -> Result<Decision, Refusal> {
    let next = task_events::after_failure(state, task, entry, time_ms, TaskCause::AttemptFailed);
    if next.to != TaskStatus::Pending || next.due_ms.is_none() {
        return Err(Error::Changed.into());
    }
    Ok(moved(state, task, entry, Destination { body: Some(body.clone()), ..next }))
}

pub(super) fn failed(cause: TaskCause, entry: &TaskEntry, body: &Body) -> Destination {
    Destination { to: TaskStatus::Failed, body: Some(body.clone()), ..kept(cause, entry) }
}
