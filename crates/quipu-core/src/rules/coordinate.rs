//! COORDINATE (our contract, `docs/protocol/coordinate.md`): tasks are made, taken, worked on and
//! finished. Who holds a task on a lease and gives no sign of life loses it.

use quipu_log::{Body, Commit, DraftEvent, Header};
use quipu_wire::{
    ErrorCode,
    akashik::{
        CoordinatePayload, CoordinateResponse, Task, TaskAction, TaskFilter, TaskIntent, TaskStatus,
    },
    json::canon::CanonError,
};

use super::{
    Refusal, admit, same_text,
    task_events::{self, Destination, Moves},
};
use crate::{
    event::{
        Event,
        coordination::{Lease, ReasonBody, TaskBody, TaskCause, TaskChange},
        documents::DocumentKind,
    },
    ids::{TaskId, UnitId},
    limits::LIST_RETURNED_MAX,
    message::Message,
    origin::Origin,
    outline::TaskOutline,
    rules::Decision,
    state::{State, TaskEntry, is_final, next_status},
    visibility::{self, Speaker, authority_in, may_see},
};

/// The authority to read of tasks, to have tasks of one's own, to give tasks to others, and to move
/// the tasks of others.
pub const AUTHORITY_READ: u8 = 2;
const AUTHORITY_OWN: u8 = 4;
const AUTHORITY_GIVE: u8 = 6;
const AUTHORITY_OTHERS: u8 = 8;

/// Why a task cannot be had or moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none, or none that the sender may know of.
    #[error("{path}: no task {task}")]
    NotFound {
        /// Where it was named.
        path: String,
        /// What was named.
        task: String,
    },
    /// What came of the task is not there.
    #[error("payload.task.result_unit_ids: no unit {unit}")]
    UnitNotFound {
        /// What was named.
        unit: String,
    },
    /// The agent that is to do it is not there.
    #[error("payload.assignee: {agent} is not a registered agent")]
    NoSuchAgent {
        /// Who.
        agent: String,
    },
    /// The agent that is to do it could not even see it.
    #[error("payload.assignee: {agent} is no member of the task's session")]
    AssigneeOutside {
        /// Who.
        agent: String,
    },
    /// The id is in use.
    #[error("payload.task.id: there is a task {task} already")]
    IdTaken {
        /// The id.
        task: String,
    },
    /// A task cannot wait for itself.
    #[error("payload.task.depends_on: {task} would depend on itself")]
    Cycle {
        /// The id.
        task: String,
    },
    /// It has to wait.
    #[error("payload.action: {task} depends on {dependency}, which is {status}")]
    DependencyOpen {
        /// The task.
        task: String,
        /// What it waits for.
        dependency: String,
        /// Where that stands.
        status: TaskStatus,
    },
    /// It cannot go there from where it stands.
    #[error("payload.action: cannot {action} {task}, which is {status}")]
    IllegalMove {
        /// Which task.
        task: String,
        /// What was asked for.
        action: TaskAction,
        /// Where it stands.
        status: TaskStatus,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::UnitNotFound { .. } | Self::NoSuchAgent { .. } => {
                ErrorCode::UnitNotFound
            }
            Self::Cycle { .. } => ErrorCode::InvalidPayload,
            Self::AssigneeOutside { .. }
            | Self::IdTaken { .. }
            | Self::DependencyOpen { .. }
            | Self::IllegalMove { .. } => ErrorCode::InvalidTransition,
        }
    }
}

/// A COORDINATE with everything drawn for it.
#[derive(Debug, Clone)]
pub struct CoordinateCommand {
    payload: CoordinatePayload,
    id: String,
    body: Option<Body>,
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
    visibility::may_write(state, message.speaker(), session)?;
    let id = &command.id;
    if state.tasks.get(id).is_some() {
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
        assignee,
        depends_on: draft.depends_on.clone(),
        priority: draft.priority,
    };
    let event = Event::TaskChanged { task: id.clone(), change };
    Ok(vec![DraftEvent { event, body: command.body.clone() }])
}

fn check_assignee(
    state: &State,
    message: &Message,
    own: u8,
    assignee: &str,
    session: Option<&str>,
) -> Result<(), Refusal> {
    if assignee != message.agent {
        require(message, own, AUTHORITY_GIVE)?;
    }
    if state.agents.live(assignee).is_none() {
        return Err(Error::NoSuchAgent { agent: assignee.to_owned() }.into());
    }
    visibility::may_enter(state, Speaker::named(assignee), session)
        .map_err(|_| Error::AssigneeOutside { agent: assignee.to_owned() }.into())
}

fn require(message: &Message, authority: u8, needed: u8) -> Result<(), Refusal> {
    if authority >= needed {
        return Ok(());
    }
    let agent = message.agent.clone();
    Err(Refusal::InsufficientAuthority { agent, authority, needed })
}

fn reach<'s>(
    state: &'s State,
    message: &Message,
    id: &str,
    path: &str,
) -> Result<&'s TaskEntry, Refusal> {
    let (speaker, session) = (message.speaker(), message.session.as_deref());
    state
        .tasks
        .get(id)
        .filter(|task| visibility::may_reach(state, speaker, session, task.session.as_deref()))
        .ok_or_else(|| Error::NotFound { path: path.to_owned(), task: id.to_owned() }.into())
}

/// Checks that the sender may make this move of this task.
fn authorize(
    state: &State,
    message: &Message,
    authority: u8,
    command: &CoordinateCommand,
    task: &TaskEntry,
) -> Result<(), Refusal> {
    let agent = message.agent.as_str();
    let session = task.session.as_deref();
    let own = authority_in(state, agent, authority, session);
    let (has_it, made_it) = (task.assigned_to.as_deref() == Some(agent), task.created_by == agent);
    let needed = match command.payload.action {
        TaskAction::Assign => {
            let assignee = command.payload.assignee.as_deref().unwrap_or(agent);
            return check_assignee(state, message, own, assignee, session);
        }
        TaskAction::Claim | TaskAction::Create | TaskAction::Get | TaskAction::List => {
            AUTHORITY_OWN
        }
        TaskAction::Start
        | TaskAction::Block
        | TaskAction::Unblock
        | TaskAction::Complete
        | TaskAction::Fail
        | TaskAction::Renew
        | TaskAction::Release => {
            if has_it || task.holder().is_none() {
                AUTHORITY_OWN
            } else {
                AUTHORITY_OTHERS
            }
        }
        TaskAction::Retry => {
            if has_it || made_it {
                AUTHORITY_OWN
            } else {
                AUTHORITY_GIVE
            }
        }
        TaskAction::Cancel => {
            if has_it || made_it {
                AUTHORITY_OWN
            } else {
                AUTHORITY_OTHERS
            }
        }
    };
    require(message, own, needed)
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

const fn cause(action: TaskAction) -> Option<TaskCause> {
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

pub(super) fn is_same(
    command: &CoordinateCommand,
    header: &Header<Event>,
    commit: &Commit,
) -> bool {
    let payload = &command.payload;
    let Some(Event::TaskChanged { task, change }) =
        header.events.first().map(|sealed| &sealed.event)
    else {
        return false;
    };
    let same = match change {
        TaskChange::Created { assignee, depends_on, priority, .. } => {
            payload.action == TaskAction::Create
                && payload.task.id.as_ref().is_none_or(|id| id == task)
                && *assignee == payload.assignee
                && *depends_on == payload.task.depends_on
                && *priority == payload.task.priority
        }
        TaskChange::Moved { cause: done, assignee, results, .. } => {
            let named = &payload.task.result_unit_ids;
            cause(payload.action) == Some(*done)
                && *task == command.id
                && (payload.action != TaskAction::Assign || *assignee == payload.assignee)
                && (payload.action != TaskAction::Complete
                    || named.iter().eq(results
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .iter()))
        }
    };
    same && same_text(command.body.as_ref(), commit)
}

/// The task that a commit changed.
#[must_use]
pub fn subject(events: &[quipu_log::SealedEvent<Event>]) -> Option<&str> {
    events.iter().find_map(|sealed| {
        let Event::TaskChanged { task, .. } = &sealed.event else { return None };
        Some(task.as_str())
    })
}

/// What `get` and `list` answer with: one task, or those of the sender's session and of none.
pub fn read(
    state: &State,
    message: &Message,
    payload: &CoordinatePayload,
) -> Result<Vec<TaskOutline>, Refusal> {
    admit(state, &message.agent, message.authority, AUTHORITY_READ)?;
    let session = message.session.as_deref();
    if let (TaskAction::Get, Some(id)) = (payload.action, &payload.task_id) {
        let entry = reach(state, message, id, "payload.task_id")?;
        return Ok(vec![TaskOutline::of(id, entry)]);
    }
    visibility::may_read(state, message.speaker(), session)?;
    let reaches = |owner| visibility::may_reach(state, message.speaker(), session, owner);
    Ok(state
        .tasks
        .iter()
        .filter(|(_, task)| reaches(task.session.as_deref()))
        .filter(|(_, task)| task.session.is_none() || task.session.as_deref() == session)
        .filter(|(_, task)| passes(task, &payload.filter))
        .take(LIST_RETURNED_MAX)
        .map(|(id, task)| TaskOutline::of(id, task))
        .collect())
}

fn passes(task: &TaskEntry, filter: &TaskFilter) -> bool {
    let same = |asked: &Option<String>, found: Option<&str>| {
        asked.as_deref().is_none_or(|asked| found == Some(asked))
    };
    (filter.status.is_empty() || filter.status.contains(&task.status))
        && same(&filter.assigned_to, task.assigned_to.as_deref())
        && same(&filter.created_by, Some(&task.created_by))
        && filter.needs_reassignment.is_none_or(|asked| task.needs_reassignment == asked)
}

/// The answer.
#[must_use]
pub fn respond(action: TaskAction, mut tasks: Vec<Task>) -> CoordinateResponse {
    let status = "ok".to_owned();
    let (task, tasks) =
        if action == TaskAction::List { (None, Some(tasks)) } else { (tasks.pop(), None) };
    CoordinateResponse { status, task, tasks, warnings: Vec::new() }
}
