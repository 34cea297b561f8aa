//! The tasks that COORDINATE made, their state machine, who holds them, and whose lease ends when.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{TaskAction, TaskStatus};
use serde::{Deserialize, Serialize};

use super::EventAddress;
use crate::{event::coordination::Lease, ids::UnitId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEntry {
    pub session: Option<String>,
    pub status: TaskStatus,
    pub created_by: String,
    pub assigned_to: Option<String>,
    pub depends_on: Vec<String>,
    pub priority: u8,
    /// Whether it lost its agent.
    pub needs_reassignment: bool,
    pub results: Vec<UnitId>,
    pub lease: Option<Lease>,
    /// The commit that made it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    /// The commit and event that say why it is blocked or failed.
    pub reason: Option<(u64, u32)>,
    pub epoch_created: u64,
    pub epoch_updated: u64,
    /// The commits that changed it, oldest first: what it was after each can be told again.
    pub changes: Vec<u64>,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    pub started_ms: Option<u64>,
    pub updated_ms: u64,
    /// Whether it waits for somebody to allow something.
    pub awaits_auth: bool,
}

impl TaskEntry {
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        is_held(self.status).then_some(self.assigned_to.as_deref()).flatten()
    }
}

#[must_use]
pub const fn is_held(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Assigned | TaskStatus::InProgress | TaskStatus::Blocked => true,
        TaskStatus::Pending
        | TaskStatus::Completed
        | TaskStatus::Failed
        | TaskStatus::Cancelled => false,
    }
}

/// Whether nothing moves a task of that status any more.
#[must_use]
pub const fn is_final(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Completed | TaskStatus::Cancelled)
}

/// The state machine: where an action takes a task of that status, or `None` where it is illegal.
#[must_use]
pub const fn next_status(status: TaskStatus, action: TaskAction) -> Option<TaskStatus> {
    use TaskStatus::{Assigned, Blocked, Cancelled, Completed, Failed, InProgress, Pending};
    match (action, status) {
        (TaskAction::Assign | TaskAction::Claim, Pending) => Some(Assigned),
        (TaskAction::Start, Assigned) | (TaskAction::Unblock, Blocked) => Some(InProgress),
        (TaskAction::Block, InProgress) => Some(Blocked),
        (TaskAction::Complete, InProgress) => Some(Completed),
        (TaskAction::Fail, InProgress) => Some(Failed),
        (TaskAction::Release, Assigned | InProgress | Blocked) | (TaskAction::Retry, Failed) => {
            Some(Pending)
        }
        (TaskAction::Cancel, Pending | Assigned | InProgress | Blocked | Failed) => Some(Cancelled),
        (TaskAction::Renew, Assigned | InProgress | Blocked) => Some(status),
        _ => None,
    }
}

#[derive(Debug, Clone, Default)]
pub struct TaskTable {
    by_id: BTreeMap<String, TaskEntry>,
    by_holder: BTreeMap<String, BTreeSet<String>>,
    by_lease: BTreeSet<(u64, String)>,
    by_making: BTreeMap<EventAddress, String>,
    /// Those that nobody has.
    open: BTreeSet<EventAddress>,
}

impl TaskTable {
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&TaskEntry> {
        self.by_id.get(id)
    }

    /// Whether an id cannot be given to another task. What belongs to a task in the Harn protocol is named after its id
    /// without `task_`, so two ids that differ by that alone would share it.
    #[must_use]
    pub fn is_taken(&self, id: &str) -> bool {
        let rest = id.strip_prefix("task_").unwrap_or(id);
        self.by_id.contains_key(rest) || self.by_id.contains_key(&format!("task_{rest}"))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &TaskEntry)> {
        self.by_id.iter().map(|(id, task)| (id.as_str(), task))
    }

    /// Those that were made at a place of the log or behind it, in the order of their making.
    pub fn made_from(
        &self,
        place: EventAddress,
    ) -> impl Iterator<Item = (EventAddress, &str, &TaskEntry)> {
        let made = self.by_making.range(place..);
        made.filter_map(|(at, id)| self.by_id.get(id).map(|task| (*at, id.as_str(), task)))
    }

    /// The task that was made at a place of the log.
    #[must_use]
    pub fn made_at(&self, place: EventAddress) -> Option<(&str, &TaskEntry)> {
        let id = self.by_making.get(&place)?;
        self.by_id.get(id).map(|task| (id.as_str(), task))
    }

    /// Those that nobody has, in the order of their making.
    pub fn open(&self) -> impl Iterator<Item = EventAddress> + '_ {
        self.open.iter().copied()
    }

    pub fn held_by(&self, agent: &str) -> impl Iterator<Item = (&str, &TaskEntry)> {
        let held = self.by_holder.get(agent).into_iter().flatten();
        held.filter_map(|id| self.by_id.get_key_value(id)).map(|(id, task)| (id.as_str(), task))
    }

    #[must_use]
    pub fn next_expiry(&self) -> Option<u64> {
        self.by_lease.first().map(|(until, _)| *until)
    }

    #[must_use]
    pub fn has_expired(&self, time_ms: u64) -> bool {
        self.by_lease.first().is_some_and(|(until, _)| *until <= time_ms)
    }

    /// The tasks whose lease has run out at a time, in that order.
    pub fn expired(&self, time_ms: u64) -> impl Iterator<Item = (&str, &TaskEntry)> {
        self.by_lease
            .iter()
            .take_while(move |(until, _)| *until <= time_ms)
            .filter_map(|(_, id)| self.by_id.get_key_value(id))
            .map(|(id, task)| (id.as_str(), task))
    }

    /// Puts a task under its id, in place of what it was before.
    pub fn put(&mut self, id: &str, task: TaskEntry) {
        if let Some(before) = self.by_id.remove(id) {
            if let Some(held) = before.holder().and_then(|agent| self.by_holder.get_mut(agent)) {
                held.remove(id);
            }
            if let Some(lease) = before.lease {
                self.by_lease.remove(&(lease.until_ms, id.to_owned()));
            }
        }
        if let Some(agent) = task.holder() {
            self.by_holder.entry(agent.to_owned()).or_default().insert(id.to_owned());
            if let Some(lease) = task.lease {
                self.by_lease.insert((lease.until_ms, id.to_owned()));
            }
        }
        let place = (task.position, task.event);
        if task.status == TaskStatus::Pending {
            self.open.insert(place);
        } else {
            self.open.remove(&place);
        }
        self.by_making.insert(place, id.to_owned());
        self.by_id.insert(id.to_owned(), task);
    }
}

impl Serialize for TaskTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_id.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TaskTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for (id, task) in BTreeMap::<String, TaskEntry>::deserialize(deserializer)? {
            table.put(&id, task);
        }
        Ok(table)
    }
}
