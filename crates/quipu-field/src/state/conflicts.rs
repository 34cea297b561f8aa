//! The conflicts of a Field.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{ConflictStatus, ConflictType, DetectedBy};
use serde::{Deserialize, Serialize};

use crate::ids::ConflictId;

/// What the Field keeps of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictEntry {
    /// Its id.
    pub id: ConflictId,
    /// What it is about.
    pub conflict_type: ConflictType,
    /// Where it stands.
    pub status: ConflictStatus,
    /// The older unit, by ordinal.
    pub unit_a: u32,
    /// The newer unit, by ordinal.
    pub unit_b: u32,
    /// How it was found.
    pub detected_by: DetectedBy,
    /// The commit that found it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
}

impl ConflictEntry {
    /// Whether it still waits to be settled.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status != ConflictStatus::Resolved
    }
}

/// All conflicts in the order of detection.
#[derive(Debug, Clone, Default)]
pub struct ConflictTable {
    entries: Vec<ConflictEntry>,
    by_id: BTreeMap<ConflictId, usize>,
    open_pairs: BTreeSet<(u32, u32)>,
}

impl ConflictTable {
    /// Appends a conflict.
    pub fn push(&mut self, entry: ConflictEntry) {
        self.by_id.insert(entry.id, self.entries.len());
        if entry.is_open() {
            self.open_pairs.insert(pair(entry.unit_a, entry.unit_b));
        }
        self.entries.push(entry);
    }

    /// The conflict of that id.
    #[must_use]
    pub fn get(&self, id: ConflictId) -> Option<&ConflictEntry> {
        self.by_id.get(&id).and_then(|at| self.entries.get(*at))
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ConflictEntry> {
        self.entries.iter()
    }

    /// Whether two units are in an open conflict already, in either order.
    #[must_use]
    pub fn is_pair_open(&self, a: u32, b: u32) -> bool {
        self.open_pairs.contains(&pair(a, b))
    }
}

fn pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Serialize for ConflictTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.entries.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ConflictTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for entry in Vec::<ConflictEntry>::deserialize(deserializer)? {
            table.push(entry);
        }
        Ok(table)
    }
}
