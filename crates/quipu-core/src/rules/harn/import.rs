//! A finished task from another server: made, worked on and ended in one commit. What happened to it there is
//! told by the notes that come with it, and not by these moves.

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::{SessionPolicy, TaskStatus};

use super::{Error, FIELD_AGENT, act::AUTHORITY_OTHERS};
use crate::{
    event::{
        Event,
        coordination::{SessionChange, TaskCause, TaskChange},
        documents::DocumentKind,
    },
    message::Message,
    rules::Decision,
    rules::Refusal,
    state::State,
    visibility,
};

/// A finished task from another server. It belongs to the session of the message.
#[derive(Debug, Clone)]
pub struct ImportedTask {
    pub task: String,
    /// Rules and [`SessionBody`](crate::event::coordination::SessionBody) of its session, where that is not here yet.
    pub session: Option<(SessionPolicy, Body)>,
    /// A [`TaskBody`](crate::event::coordination::TaskBody).
    pub body: Body,
    /// How it ended: completed, failed or cancelled.
    pub ended: TaskStatus,
    /// A [`ReasonBody`](crate::event::coordination::ReasonBody), where it says why.
    pub reason: Option<Body>,
}

pub(super) fn decide(
    state: &State,
    message: &Message,
    authority: u8,
    imported: &ImportedTask,
) -> Result<Decision, Refusal> {
    let ImportedTask { task, session, body, ended, reason } = imported;
    if authority < AUTHORITY_OTHERS {
        let (agent, needed) = (message.agent.clone(), AUTHORITY_OTHERS);
        return Err(Refusal::InsufficientAuthority { agent, authority, needed });
    }
    visibility::may_write(state, message.speaker(), message.session.as_deref())?;
    let taken = |kind, id: &str| Error::IdTaken { kind, id: id.to_owned() };
    if state.tasks.is_taken(task) {
        return Err(taken(DocumentKind::Task, task).into());
    }
    let mut events = Vec::new();
    if let (Some((policy, body)), Some(id)) = (session, &message.session) {
        if state.sessions.get(id).is_some() || state.names.find(id).is_some() {
            return Err(taken(DocumentKind::Session, id).into());
        }
        let change = SessionChange::Created { policy: policy.clone(), copy_of: None };
        let event = Event::SessionChanged { session: id.clone(), change };
        events.push(DraftEvent { event, body: Some(body.clone()) });
    }
    let created = TaskChange::Created {
        assignee: None,
        depends_on: Vec::new(),
        priority: 5,
        lease: None,
        terms: None,
    };
    let changed = |change| Event::TaskChanged { task: task.clone(), change };
    events.push(DraftEvent { event: changed(created), body: Some(body.clone()) });
    let moved = |(cause, from, to)| {
        let assignee = Some(FIELD_AGENT.to_owned());
        let (needs_reassignment, results, lease, due_ms) = (false, Vec::new(), None, None);
        TaskChange::Moved { cause, from, to, assignee, needs_reassignment, results, lease, due_ms }
    };
    let begun = [
        (TaskCause::Claim, TaskStatus::Pending, TaskStatus::Assigned),
        (TaskCause::Start, TaskStatus::Assigned, TaskStatus::InProgress),
    ];
    let moves = begun.map(moved).map(changed);
    events.extend(moves.map(|event| DraftEvent { event, body: None }));
    let cause = match ended {
        TaskStatus::Completed => TaskCause::Complete,
        TaskStatus::Failed => TaskCause::Fail,
        TaskStatus::Cancelled => TaskCause::Cancel,
        TaskStatus::Pending
        | TaskStatus::Assigned
        | TaskStatus::InProgress
        | TaskStatus::Blocked => {
            let (task, status) = (task.clone(), *ended);
            return Err(Error::IllegalMove { task, status, wanted: "imported" }.into());
        }
    };
    let event = changed(moved((cause, TaskStatus::InProgress, *ended)));
    events.push(DraftEvent { event, body: reason.clone() });
    Ok(events)
}
