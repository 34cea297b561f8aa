//! The conflicts of a Field.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{ConflictStatus, ConflictStrategy, ConflictType, DetectedBy};
use serde::{Deserialize, Serialize};

use super::Name;
use crate::ids::ConflictId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictEntry {
    pub id: ConflictId,
    pub conflict_type: ConflictType,
    pub status: ConflictStatus,
    /// The older unit, by ordinal.
    pub unit_a: u32,
    /// The newer unit, by ordinal.
    pub unit_b: u32,
    pub detected_by: DetectedBy,
    /// The commit that found it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    pub resolution: Option<ResolutionEntry>,
    /// The ballots of a vote: who, for which of the two units.
    pub ballots: BTreeMap<Name, u32>,
    /// The ballots that the vote takes, where who called it said so.
    pub quorum: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionEntry {
    pub strategy: ConflictStrategy,
    /// The unit that prevails, by ordinal.
    pub winner: Option<u32>,
    pub by: Name,
    pub epoch: u64,
    /// The commit, where the rationale is.
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

#[derive(Debug, Clone, Default)]
pub struct ConflictTable {
    entries: Vec<ConflictEntry>,
    by_id: BTreeMap<ConflictId, usize>,
    open_pairs: BTreeSet<(u32, u32)>,
    open_by_unit: BTreeMap<u32, BTreeSet<usize>>,
}

impl ConflictTable {
    pub fn push(&mut self, entry: ConflictEntry) {
        let at = self.entries.len();
        self.by_id.insert(entry.id, at);
        if entry.is_open() {
            self.open_pairs.insert(pair(entry.unit_a, entry.unit_b));
            for unit in [entry.unit_a, entry.unit_b] {
                self.open_by_unit.entry(unit).or_default().insert(at);
            }
        }
        self.entries.push(entry);
    }

    #[must_use]
    pub fn get(&self, id: ConflictId) -> Option<&ConflictEntry> {
        self.by_id.get(&id).and_then(|at| self.entries.get(*at))
    }

    /// Changes a conflict. It may be settled by that, and is never opened again.
    pub fn change(&mut self, id: ConflictId, act: impl FnOnce(&mut ConflictEntry)) {
        let Some(at) = self.by_id.get(&id).copied() else { return };
        let Some(entry) = self.entries.get_mut(at) else { return };
        act(entry);
        if entry.is_open() {
            return;
        }
        let (a, b) = (entry.unit_a, entry.unit_b);
        for unit in [a, b] {
            if let Some(open) = self.open_by_unit.get_mut(&unit) {
                open.remove(&at);
                if open.is_empty() {
                    self.open_by_unit.remove(&unit);
                }
            }
        }
        // Another conflict of the same two units may still be open.
        if !self.open_of(a).any(|other| pair(other.unit_a, other.unit_b) == pair(a, b)) {
            self.open_pairs.remove(&pair(a, b));
        }
    }

    /// The open conflicts that a unit is in, oldest first.
    pub fn open_of(&self, unit: u32) -> impl Iterator<Item = &ConflictEntry> {
        self.open_by_unit.get(&unit).into_iter().flatten().filter_map(|at| self.entries.get(*at))
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ConflictEntry> {
        self.entries.iter()
    }

    /// Those that were detected after one of them; all without one.
    pub fn behind(&self, one: Option<ConflictId>) -> impl Iterator<Item = &ConflictEntry> {
        let from = one.and_then(|one| self.by_id.get(&one)).map_or(0, |at| at + 1);
        self.entries.iter().skip(from)
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
