//! A task as the protocol shows it: first what the state knows, then its free text.

use quipu_wire::{
    akashik::{Task, TaskIntent},
    json::timestamp::rfc3339,
};

use super::{ERASED, Texts};
use crate::{
    event::coordination::{ReasonBody, TaskBody},
    state::TaskEntry,
};

/// A task without its free text, and where that is.
#[derive(Debug)]
pub struct TaskOutline {
    task: Task,
    at: (u64, u32),
    reason: Option<(u64, u32)>,
}

impl TaskOutline {
    /// Takes everything about a task that the state knows.
    #[must_use]
    pub fn of(id: &str, entry: &TaskEntry) -> Self {
        let task = Task {
            id: id.to_owned(),
            session_id: entry.session.clone(),
            title: String::new(),
            intent: TaskIntent::default(),
            status: entry.status,
            created_by: entry.created_by.clone(),
            assigned_to: entry.assigned_to.clone(),
            depends_on: entry.depends_on.clone(),
            priority: entry.priority,
            needs_reassignment: entry.needs_reassignment,
            blocked_reason: None,
            result_unit_ids: entry.results.iter().map(ToString::to_string).collect(),
            lease_expires_at: entry.lease.map(|lease| rfc3339(lease.until_ms)),
            epoch_created: entry.epoch_created,
            epoch_updated: entry.epoch_updated,
        };
        Self { task, at: (entry.position, entry.event), reason: entry.reason }
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<Task, T::Error> {
        let mut task = self.task;
        let erased =
            || TaskBody { title: ERASED.to_owned(), purpose: ERASED.to_owned(), question: None };
        let body = texts.load::<TaskBody>(self.at.0, self.at.1)?.unwrap_or_else(erased);
        task.title = body.title;
        task.intent = TaskIntent { purpose: body.purpose, question: body.question };
        if let Some((position, event)) = self.reason {
            let body = texts.load::<ReasonBody>(position, event)?;
            task.blocked_reason = Some(body.map_or_else(|| ERASED.to_owned(), |body| body.reason));
        }
        Ok(task)
    }
}
