//! COORDINATE as a tool. The name is ours: the protocol lists no tool for it.

use quipu_wire::{
    akashik::{CoordinatePayload, CoordinateResponse, Operation, Task},
    quote::{named, quoted},
};

use super::{
    text::with_warnings,
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Keeps a list of tasks that several agents share, so that two of them do not do the same.

Call it to see what is to be done (`list`), to add a task (`create`), and to move one that you work on: claim, start, \
block, unblock, complete, fail, release. Claim a task before you start on it, and complete it with the ids of \
the units that came of it.

Example: {\"action\": \"create\", \"task\": {\"title\": \"Check the market figures\", \"intent\": {\"purpose\": \"The report \
rests on them\"}}}
Example: {\"action\": \"claim\", \"task_id\": \"task-…\"}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<CoordinatePayload, CoordinateResponse>(
        Operation::Coordinate,
        "Share tasks",
        DESCRIPTION,
        Effect::Changes,
        describe,
    )
}

fn describe(answer: &CoordinateResponse) -> String {
    let text = match (&answer.task, &answer.tasks) {
        (Some(task), _) => line(task),
        (None, Some(tasks)) if tasks.is_empty() => "No tasks.".to_owned(),
        (None, Some(tasks)) => tasks.iter().map(line).collect::<Vec<_>>().join("\n"),
        (None, None) => answer.status.clone(),
    };
    with_warnings(text, &answer.warnings)
}

fn line(task: &Task) -> String {
    let (id, title) = (named(&task.id), quoted(&task.title));
    let mut text = format!("{id} [{}] {title}", task.status.as_str());
    if let Some(agent) = &task.assigned_to {
        text.push_str(&format!(", with {}", named(agent)));
    }
    if let Some(reason) = &task.blocked_reason {
        text.push_str(&format!(", because {}", quoted(reason)));
    }
    text
}
