//! COORDINATE (our contract, `docs/protocol/coordinate.md`): tasks are made, taken, worked on and
//! finished. Who holds a task on a lease and gives no sign of life loses it.

use quipu_log::{Body, DraftEvent};
use quipu_wire::{
    akashik::{CoordinatePayload, TaskAction, TaskIntent, TaskStatus},
    json::canon::CanonError,
};

use super::{
    Error,
    authority::{AUTHORITY_OWN, authorize, check_assignee, reach},
};
use crate::{
    event::{
        Event,
        coordination::{Lease, ReasonBody, TaskBody, TaskCause, TaskChange},
        documents::DocumentKind,
    },
    ids::{TaskId, UnitId},
    message::Message,
    origin::Origin,
    rules::{
        Decision, Refusal, admit,
        task_events::{self, Destination, Moves},
    },
    state::{State, TaskEntry, is_final, next_status},
    visibility::{self, authority_in, may_see},
};

/// A COORDINATE with everything drawn for it.
#[derive(Debug, Clone)]
pub struct CoordinateCommand {
    pub(super) payload: CoordinatePayload,
    pub(super) id: String,
    pub(super) body: Option<Body>,
}

impl CoordinateCommand {
    /// Draws the new task's id and seals what is said of it.
    pub fn prepare(
        mut payload: CoordinatePayload,
        origin: &dyn Origin,
    ) -> Result<Self, CanonError> {
        let named = if payload.action == TaskAction::Create {
            payload.task.id.clone()
        } else {
            payload.task_id.clone()
        };
        let id = named.unwrap_or_else(|| TaskId::from_bits(origin.id_bits()).to_string());
        let reason = payload.reason.take();
        let body = if payload.action == TaskAction::Create {
            let title = std::mem::take(&mut payload.task.title);
            let TaskIntent { purpose, question } = std::mem::take(&mut payload.task.intent);
            Some(Body::new(origin.salt(), &TaskBody { title, purpose, question })?)
        } else {
            reason.map(|reason| Body::new(origin.salt(), &ReasonBody { reason })).transpose()?
        };
        Ok(Self { payload, id, body })
    }
}

/// Whether an action only reads.
#[must_use]
pub const fn is_read(action: TaskAction) -> bool {
    matches!(action, TaskAction::Get | TaskAction::List)
}

/// The rule. The time is the command's, by which leases are counted.
pub fn decide(
    state: &State,
    message: &Message,
    time_ms: u64,
    command: &CoordinateCommand,
) -> Result<Decision, Refusal> {
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_OWN)?;
    let authority = sender.authority.min(message.authority);
    if command.payload.action == TaskAction::Create {
        return create(state, message, authority, time_ms, command);
    }
    let task = reach(state, message, &command.id, "payload.task_id")?;
    visibility::may_write(state, message.speaker(), task.session.as_deref())?;
    authorize(state, message, authority, command, task)?;
    advance(state, message, time_ms, command, task)
}

fn create(
    state: &State,
    message: &Message,
    authority: u8,
    time_ms: u64,
    command: &CoordinateCommand,
) -> Result<Decision, Refusal> {
    let session = message.session.as_deref();
    visibility::may_write_within(state, message.speaker(), session)?;
    let id = &command.id;
    if state.tasks.is_taken(id) {
        return Err(Error::IdTaken { task: id.clone() }.into());
    }
    let draft = &command.payload.task;
    for (index, dependency) in draft.depends_on.iter().enumerate() {
        if dependency == id {
            return Err(Error::Cycle { task: id.clone() }.into());
        }
        reach(state, message, dependency, &format!("payload.task.depends_on[{index}]"))?;
    }
    let assignee = command.payload.assignee.clone();
    if let Some(assignee) = &assignee {
        let own = authority_in(state, &message.agent, authority, session);
        check_assignee(state, message, own, assignee, session)?;
    }
    let change = TaskChange::Created {
        lease: assignee.as_ref().and_then(|_| lease(time_ms, command.payload.lease_ms)),
        terms: None,
        assignee,
        depends_on: draft.depends_on.clone(),
        priority: draft.priority,
    };
    let event = Event::TaskChanged { task: id.clone(), change };
    Ok(vec![DraftEvent { event, body: command.body.clone() }])
}

fn advance(
    state: &State,
    message: &Message,
    time_ms: u64,
    command: &CoordinateCommand,
    task: &TaskEntry,
) -> Result<Decision, Refusal> {
    let (id, action) = (command.id.as_str(), command.payload.action);
    let illegal = || Error::IllegalMove { task: id.to_owned(), action, status: task.status };
    let to = next_status(task.status, action).ok_or_else(illegal)?;
    let cause = cause(action).ok_or_else(illegal)?;
    // To the Harn protocol a task that failed is over, and its receipt says so.
    let over = action == TaskAction::Retry && state.documents.get(DocumentKind::Task, id).is_some();
    if over {
        return Err(illegal().into());
    }
    if action == TaskAction::Start {
        check_dependencies(state, id, task)?;
    }
    let assignee = match action {
        TaskAction::Claim => Some(message.agent.clone()),
        TaskAction::Assign => command.payload.assignee.clone(),
        TaskAction::Release | TaskAction::Retry => None,
        TaskAction::Create
        | TaskAction::Start
        | TaskAction::Block
        | TaskAction::Unblock
        | TaskAction::Complete
        | TaskAction::Fail
        | TaskAction::Cancel
        | TaskAction::Renew
        | TaskAction::Get
        | TaskAction::List => task.assigned_to.clone(),
    };
    let results = if action == TaskAction::Complete {
        results(state, message, task, &command.payload.task.result_unit_ids)?
    } else {
        task.results.clone()
    };
    let held = assignee.is_some() && !is_final(to) && to != TaskStatus::Failed;
    // Every sign of life extends the lease that there is.
    let length = command.payload.lease_ms.or_else(|| task.lease.map(|lease| lease.length_ms));
    let destination = Destination {
        cause,
        to,
        assignee,
        needs_reassignment: action == TaskAction::Release,
        results,
        lease: held.then(|| lease(time_ms, length)).flatten(),
        due_ms: None,
        body: command.body.clone(),
    };
    let mut moves = Moves::default();
    moves.task(id, task, destination);
    if !held {
        task_events::expire_offers(state, id, &mut moves);
    }
    Ok(moves.finish(state))
}

fn check_dependencies(state: &State, id: &str, task: &TaskEntry) -> Result<(), Refusal> {
    let open = task.depends_on.iter().find_map(|dependency| {
        let status = state.tasks.get(dependency).map_or(TaskStatus::Pending, |task| task.status);
        (status != TaskStatus::Completed).then_some((dependency, status))
    });
    open.map_or(Ok(()), |(dependency, status)| {
        let (task, dependency) = (id.to_owned(), dependency.clone());
        Err(Error::DependencyOpen { task, dependency, status }.into())
    })
}

fn results(
    state: &State,
    message: &Message,
    task: &TaskEntry,
    ids: &[String],
) -> Result<Vec<UnitId>, Refusal> {
    let session = task.session.as_deref();
    ids.iter()
        .map(|text| {
            let id = UnitId::parse(text);
            id.filter(|id| {
                let at = state.units.find(*id);
                at.is_some_and(|at| may_see(state, message.speaker(), session, at))
            })
            .ok_or_else(|| Error::UnitNotFound { unit: text.clone() }.into())
        })
        .collect()
}

fn lease(time_ms: u64, length: Option<u64>) -> Option<Lease> {
    length.map(|length_ms| Lease { length_ms, until_ms: time_ms.saturating_add(length_ms) })
}

pub(super) const fn cause(action: TaskAction) -> Option<TaskCause> {
    match action {
        TaskAction::Assign => Some(TaskCause::Assign),
        TaskAction::Claim => Some(TaskCause::Claim),
        TaskAction::Start => Some(TaskCause::Start),
        TaskAction::Block => Some(TaskCause::Block),
        TaskAction::Unblock => Some(TaskCause::Unblock),
        TaskAction::Complete => Some(TaskCause::Complete),
        TaskAction::Fail => Some(TaskCause::Fail),
        TaskAction::Release => Some(TaskCause::Release),
        TaskAction::Retry => Some(TaskCause::Retry),
        TaskAction::Cancel => Some(TaskCause::Cancel),
        TaskAction::Renew => Some(TaskCause::Renew),
        TaskAction::Create | TaskAction::Get | TaskAction::List => None,
    }
}

/// The rule of time: the tasks whose lease has run out go back to the pool.
#[must_use]
pub fn expire(state: &State, time_ms: u64) -> Decision {
    task_events::leases_expired(state, time_ms)
}
