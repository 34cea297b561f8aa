//! What replaced what others recorded, by who did it, so that counting it looks at nothing else. It follows from the rest
//! of the state: it is in no snapshot and no hash, and is made again when a state is read.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{ConflictStatus, MemoryType, Mode, RelationType};

use super::{ConflictEntry, Name, State};
use crate::ids::ConflictId;

/// Something by which units of others may have given way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacer {
    /// A unit that says it supersedes others, by its ordinal.
    Unit(u32),
    /// A settled conflict.
    Conflict(ConflictId),
}

/// Those of each author and of each key, the oldest first, with their commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacers {
    by_author: BTreeMap<Name, Vec<(u64, Replacer)>>,
    by_key: BTreeMap<Name, Vec<(u64, Replacer)>>,
}

impl Replacers {
    /// Those of which the prevailing unit is of an author, the newest first.
    pub(crate) fn of_author(&self, author: Name) -> impl Iterator<Item = (u64, Replacer)> {
        self.by_author.get(&author).into_iter().flatten().rev().copied()
    }

    /// Those of which the prevailing unit came through a key, the newest first.
    pub(crate) fn of_key(&self, key: Name) -> impl Iterator<Item = (u64, Replacer)> {
        self.by_key.get(&key).into_iter().flatten().rev().copied()
    }

    /// Those of a whole state.
    pub(super) fn rebuilt(state: &State) -> Self {
        let mut all = Self::default();
        let recorded = (0..state.units.next_ordinal()).filter_map(|unit| {
            let position = state.units.details(unit)?.position;
            replaces_others(state, unit).then_some((position, unit, Replacer::Unit(unit)))
        });
        let settled = state.conflicts.iter().flat_map(|conflict| {
            let position = conflict.resolution.as_ref().map_or(0, |settled| settled.position);
            let by: BTreeSet<u32> = settled_by(state, conflict).iter().map(|(_, by)| *by).collect();
            by.into_iter().map(move |by| (position, by, Replacer::Conflict(conflict.id)))
        });
        let mut found: Vec<_> = recorded.chain(settled).collect();
        found.sort_by_key(|(position, by, _)| (*position, *by));
        for (position, by, replacer) in found {
            all.push(state, position, by, replacer);
        }
        all
    }

    fn push(&mut self, state: &State, position: u64, by: u32, replacer: Replacer) {
        if let Some(flags) = state.units.flags(by) {
            self.by_author.entry(flags.author).or_default().push((position, replacer));
        }
        if let Some(key) = state.unit_keys.of(by) {
            self.by_key.entry(key).or_default().push((position, replacer));
        }
    }
}

impl State {
    /// Notes a unit that was recorded just now, with all that is known of it.
    pub(crate) fn note_replacing_unit(&mut self, unit: u32) {
        let Some(position) = self.units.details(unit).map(|unit| unit.position) else { return };
        if replaces_others(self, unit) {
            let mut replacers = std::mem::take(&mut self.replacers);
            replacers.push(self, position, unit, Replacer::Unit(unit));
            self.replacers = replacers;
        }
    }

    /// Notes a conflict that was settled just now.
    pub(crate) fn note_settled(&mut self, conflict: ConflictId) {
        let Some(entry) = self.conflicts.get(conflict) else { return };
        let position = entry.resolution.as_ref().map_or(0, |settled| settled.position);
        let by: BTreeSet<u32> = settled_by(self, entry).iter().map(|(_, by)| *by).collect();
        let mut replacers = std::mem::take(&mut self.replacers);
        for by in by {
            replacers.push(self, position, by, Replacer::Conflict(conflict));
        }
        self.replacers = replacers;
    }
}

/// Whether a unit supersedes one of another author, and may.
fn replaces_others(state: &State, unit: u32) -> bool {
    let author = state.units.flags(unit).map(|unit| unit.author);
    let of_other = |target: &u32| state.units.flags(*target).map(|it| it.author) != author;
    superseded_by(state, unit).iter().any(of_other)
}

/// The units that a unit says it supersedes, and may.
pub(crate) fn superseded_by(state: &State, unit: u32) -> BTreeSet<u32> {
    let committed = state.units.details(unit).filter(|details| details.mode == Mode::Committed);
    let mut superseded =
        committed.map_or_else(BTreeSet::new, |details| details.linked(RelationType::Supersedes));
    superseded.retain(|target| !state.backing.is_spared(*target, unit));
    superseded
}

/// What a settled conflict replaced, and by what: the unit that prevailed, or the synthesis that its commit recorded.
pub(crate) fn settled_by(state: &State, conflict: &ConflictEntry) -> Vec<(u32, u32)> {
    let settled = conflict.resolution.as_ref();
    let settled = settled.filter(|_| conflict.status == ConflictStatus::Resolved);
    let Some(resolution) = settled else { return Vec::new() };
    let (a, b) = (conflict.unit_a, conflict.unit_b);
    match resolution.winner {
        Some(winner) => vec![(if winner == a { b } else { a }, winner)],
        None => {
            let is_synthesis = |unit: &u32| {
                let flags = state.units.flags(*unit);
                flags.is_some_and(|unit| unit.memory_type == MemoryType::Synthesis)
            };
            let synthesis = state.units.recorded_at(resolution.position).find(is_synthesis);
            synthesis.into_iter().flat_map(|by| [(a, by), (b, by)]).collect()
        }
    }
}
