//! What COORDINATE answers, and whether a message that is sent again asks for the same.

use quipu_log::{Commit, Header};
use quipu_wire::akashik::{CoordinatePayload, CoordinateResponse, Task, TaskAction, TaskFilter};

use super::{AUTHORITY_READ, CoordinateCommand, authority::reach, rule::cause};
use crate::{
    event::{Event, coordination::TaskChange},
    limits::LIST_RETURNED_MAX,
    message::Message,
    outline::TaskOutline,
    rules::{Refusal, admit, same_text},
    state::{State, TaskEntry},
    visibility,
};

pub(in crate::rules) fn is_same(
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

#[must_use]
pub fn respond(action: TaskAction, mut tasks: Vec<Task>) -> CoordinateResponse {
    let status = "ok".to_owned();
    let (task, tasks) =
        if action == TaskAction::List { (None, Some(tasks)) } else { (tasks.pop(), None) };
    CoordinateResponse { status, task, tasks, warnings: Vec::new() }
}
