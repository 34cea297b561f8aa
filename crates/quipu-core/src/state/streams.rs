//! Which commits are about a task or a session, so that their events can be read without reading the whole log, and
//! what was recorded under which key of a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where an event is in the log: the position of its commit, and its index there.
pub type EventAddress = (u64, u32);

/// The commits of tasks and sessions, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTable {
    tasks: BTreeMap<String, TaskStream>,
    sessions: BTreeMap<String, Vec<u64>>,
    /// Events that were brought here from another server, by the id that they had there.
    imported: BTreeMap<String, EventAddress>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStream {
    pub commits: Vec<u64>,
    /// The answers that it recorded, by key.
    pub dependencies: BTreeMap<String, EventAddress>,
    pub checkpoints: BTreeMap<String, EventAddress>,
}

impl StreamTable {
    #[must_use]
    pub fn task(&self, task: &str) -> Option<&TaskStream> {
        self.tasks.get(task)
    }

    pub fn task_mut(&mut self, task: &str) -> &mut TaskStream {
        self.tasks.entry(task.to_owned()).or_default()
    }

    #[must_use]
    pub fn session(&self, session: &str) -> &[u64] {
        self.sessions.get(session).map_or(&[], Vec::as_slice)
    }

    #[must_use]
    pub fn imported(&self, event_id: &str) -> Option<EventAddress> {
        self.imported.get(event_id).copied()
    }

    /// Notes that a commit is about a task.
    pub fn note_task_commit(&mut self, task: &str, position: u64) {
        push_new(&mut self.task_mut(task).commits, position);
    }

    /// Notes that a commit is about a session.
    pub fn note_session_commit(&mut self, session: &str, position: u64) {
        push_new(self.sessions.entry(session.to_owned()).or_default(), position);
    }

    pub fn note_imported(&mut self, event_id: &str, address: EventAddress) {
        self.imported.insert(event_id.to_owned(), address);
    }
}

fn push_new(commits: &mut Vec<u64>, position: u64) {
    if commits.last() != Some(&position) {
        commits.push(position);
    }
}
