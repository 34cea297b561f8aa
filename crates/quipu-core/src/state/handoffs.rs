//! The handoffs of a Field, and which of them still wait for an answer.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::HandoffStatus;
use serde::{Deserialize, Serialize};

use crate::ids::{ConflictId, UnitId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffEntry {
    pub session: Option<String>,
    /// The task, which need not be one that COORDINATE made.
    pub task: String,
    pub from: String,
    pub to: String,
    pub status: HandoffStatus,
    pub units: Vec<UnitId>,
    /// The task's questions that nobody had answered.
    pub questions: Vec<UnitId>,
    pub conflicts: Vec<ConflictId>,
    /// The commit that offered it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    /// The commit and event that answered it.
    pub answer: Option<(u64, u32)>,
    pub epoch_created: u64,
    pub epoch_updated: u64,
    /// The commits that changed it, oldest first: what it was after each can be told again.
    pub changes: Vec<u64>,
}

#[derive(Debug, Clone, Default)]
pub struct HandoffTable {
    by_id: BTreeMap<String, HandoffEntry>,
    open: BTreeSet<String>,
}

impl HandoffTable {
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&HandoffEntry> {
        self.by_id.get(id)
    }

    /// All of them, by id: oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &HandoffEntry)> {
        self.by_id.iter().map(|(id, handoff)| (id.as_str(), handoff))
    }

    /// Those that wait for an answer.
    pub fn open(&self) -> impl Iterator<Item = (&str, &HandoffEntry)> {
        let open = self.open.iter().filter_map(|id| self.by_id.get_key_value(id));
        open.map(|(id, handoff)| (id.as_str(), handoff))
    }

    /// Puts a handoff under its id, in place of what it was before.
    pub fn put(&mut self, id: &str, handoff: HandoffEntry) {
        if handoff.status == HandoffStatus::Offered {
            self.open.insert(id.to_owned());
        } else {
            self.open.remove(id);
        }
        self.by_id.insert(id.to_owned(), handoff);
    }
}

impl Serialize for HandoffTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_id.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HandoffTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for (id, handoff) in BTreeMap::<String, HandoffEntry>::deserialize(deserializer)? {
            table.put(&id, handoff);
        }
        Ok(table)
    }
}
