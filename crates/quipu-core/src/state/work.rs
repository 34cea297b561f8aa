//! What tasks say of who is to find them and how often they are tried, and what came of their attempts. Tasks that say
//! nothing are not here, so that the state of a log of before is what it was.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::TaskStatus;
use serde::{Deserialize, Serialize};

use super::{EventAddress, TaskEntry, TaskTable};
use crate::event::coordination::{RetryPolicy, TaskCause, WorkTerms};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEntry {
    pub terms: WorkTerms,
    /// How many attempts failed or lost their agent.
    pub failed_attempts: u32,
    /// Until when nobody is given it who asks for the next one, in milliseconds since 1970.
    pub due_ms: u64,
    /// Whether its last attempt is used up.
    pub dead: bool,
}

#[derive(Debug, Clone, Default)]
pub struct WorkTable {
    by_task: BTreeMap<String, WorkEntry>,
    /// The tasks of each queue that nobody has, in the order of their making. Follows from the tasks.
    open: BTreeMap<String, BTreeSet<EventAddress>>,
    by_parent: BTreeMap<String, BTreeSet<String>>,
}

impl WorkTable {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_task.is_empty()
    }

    #[must_use]
    pub fn get(&self, task: &str) -> Option<&WorkEntry> {
        self.by_task.get(task)
    }

    /// How often a task is tried, and how often that failed so far; nothing where it is tried without end.
    #[must_use]
    pub fn attempts(&self, task: &str) -> Option<(RetryPolicy, u32)> {
        let entry = self.get(task)?;
        entry.terms.retry.map(|policy| (policy, entry.failed_attempts))
    }

    #[must_use]
    pub fn queue_of(&self, task: &str) -> Option<&str> {
        self.get(task)?.terms.queue.as_deref()
    }

    /// The tasks of a queue that nobody has, in the order of their making.
    pub fn open_in(&self, queue: &str) -> impl Iterator<Item = EventAddress> + '_ {
        self.open.get(queue).into_iter().flatten().copied()
    }

    #[must_use]
    pub fn is_part_of(&self, task: &str, parent: &str) -> bool {
        self.by_parent.get(parent).is_some_and(|parts| parts.contains(task))
    }

    pub(crate) fn created(&mut self, task: &str, terms: &WorkTerms) {
        let terms = terms.clone();
        self.put(task, WorkEntry { terms, failed_attempts: 0, due_ms: 0, dead: false });
    }

    pub(crate) fn moved(&mut self, task: &str, cause: TaskCause, due_ms: Option<u64>) {
        let Some(entry) = self.by_task.get_mut(task) else { return };
        entry.due_ms = due_ms.unwrap_or(0);
        entry.dead |= cause == TaskCause::Exhausted;
        let is_failure = matches!(
            cause,
            TaskCause::LeaseExpired | TaskCause::AttemptFailed | TaskCause::Exhausted
        );
        if is_failure && entry.terms.retry.is_some() {
            entry.failed_attempts = entry.failed_attempts.saturating_add(1);
        }
    }

    /// Keeps the list of a queue as its task stands.
    pub(crate) fn stands(&mut self, task: &str, entry: &TaskEntry) {
        let Some(queue) = self.by_task.get(task).and_then(|it| it.terms.queue.clone()) else {
            return;
        };
        let place = (entry.position, entry.event);
        let open = self.open.entry(queue).or_default();
        if entry.status == TaskStatus::Pending {
            open.insert(place);
        } else {
            open.remove(&place);
        }
    }

    /// What follows from the tasks, after it was read back.
    pub(super) fn follow(&mut self, tasks: &TaskTable) {
        let ids: Vec<String> = self.by_task.keys().cloned().collect();
        for id in ids {
            if let Some(entry) = tasks.get(&id) {
                self.stands(&id, entry);
            }
        }
    }

    fn put(&mut self, task: &str, entry: WorkEntry) {
        if let Some(parent) = &entry.terms.parent {
            self.by_parent.entry(parent.clone()).or_default().insert(task.to_owned());
        }
        self.by_task.insert(task.to_owned(), entry);
    }
}

impl Serialize for WorkTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_task.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WorkTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for (id, entry) in BTreeMap::<String, WorkEntry>::deserialize(deserializer)? {
            table.put(&id, entry);
        }
        Ok(table)
    }
}
