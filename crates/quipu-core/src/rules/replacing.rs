//! Replacing what others recorded: who may, what a unit replaced, and what is to come back once it is withdrawn. Asked by
//! RECORD, MERGE, retractions and restorations.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{ConflictStatus, MemoryType, Mode, RelationType, UnitStatus};

use super::detect::{is_disputed, tells};
use crate::{
    limits::{REPLACE_MANY_AUTHORITY, REPLACED_MAX},
    message::Message,
    state::{AgentEntry, ConflictEntry, Name, State},
};

/// The authority with which a unit was recorded: what its sender's key really had, or, where the log does not say so
/// yet, what its author is registered with, also where it left since.
pub(crate) fn recorded_with(state: &State, unit: u32) -> u8 {
    let registered = || {
        let author = state.units.flags(unit)?.author;
        Some(state.agents.get(state.names.text(author))?.authority)
    };
    state.backing.authority(unit).or_else(registered).unwrap_or_default()
}

/// Who would replace units, and with what right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'s> {
    state: &'s State,
    author: Name,
    /// What the sender's key and its registration leave it.
    pub(super) authority: u8,
    own_key: bool,
}

impl<'s> Claim<'s> {
    pub(super) fn of(state: &'s State, author: &AgentEntry, message: &Message) -> Self {
        let authority = author.authority.min(message.authority);
        Self { state, author: author.name, authority, own_key: message.own_key }
    }

    /// Whether a unit is the sender's own. A key that may speak for anybody proves no name, so it is believed as far
    /// as its authority goes.
    pub(super) fn owns(self, unit: u32) -> bool {
        let of_name = self.state.units.flags(unit).is_some_and(|unit| unit.author == self.author);
        of_name && (self.own_key || self.authority >= recorded_with(self.state, unit))
    }

    /// The authority that it takes to replace a unit, where the sender has not got it.
    pub(super) fn lacks(self, unit: u32) -> Option<u8> {
        let needed = recorded_with(self.state, unit);
        (self.authority < needed && !self.owns(unit)).then_some(needed)
    }

    /// The authority that it takes to replace so many units of others at once, where the sender has not got it.
    pub(super) fn lacks_for_all(self, units: &BTreeSet<u32>) -> Option<u8> {
        if self.authority >= REPLACE_MANY_AUTHORITY || units.len() <= REPLACED_MAX {
            return None;
        }
        let of_others = units.iter().filter(|unit| !self.owns(**unit)).count();
        (of_others > REPLACED_MAX).then_some(REPLACE_MANY_AUTHORITY)
    }
}

/// What replaced what, as far as it is asked for once: the settled conflicts are gone through when it is made.
#[derive(Debug)]
pub(super) struct Replacements<'s> {
    state: &'s State,
    /// By the unit that lost: those that prevailed.
    merged: BTreeMap<u32, BTreeSet<u32>>,
}

impl<'s> Replacements<'s> {
    pub(super) fn of(state: &'s State) -> Self {
        let mut merged: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let settled = state.conflicts.iter();
        for conflict in settled.filter(|entry| entry.status == ConflictStatus::Resolved) {
            for (unit, by) in settled_by(state, conflict) {
                merged.entry(unit).or_default().insert(by);
            }
        }
        Self { state, merged }
    }

    /// The units that a unit replaces: what it supersedes, and what it prevailed over.
    pub(super) fn by(&self, unit: u32) -> BTreeSet<u32> {
        let details = self.state.units.details(unit);
        let mut replaced = details.map_or_else(BTreeSet::new, |details| match details.mode {
            Mode::Committed => details.linked(RelationType::Supersedes),
            Mode::Draft => BTreeSet::new(),
        });
        replaced.retain(|target| !self.state.backing.is_spared(*target, unit));
        let lost = self.merged.iter().filter(|(_, by)| by.contains(&unit));
        replaced.extend(lost.map(|(lost, _)| *lost));
        replaced.retain(|target| tells(self.state, *target, unit));
        replaced
    }

    /// The unit that replaces another one and was not withdrawn. `is_back` says which withdrawn ones are back, and
    /// `but` which one goes.
    pub(super) fn stands_for(
        &self,
        unit: u32,
        but: Option<u32>,
        is_back: &BTreeSet<u32>,
    ) -> Option<u32> {
        let state = self.state;
        let committed = |by: &u32| {
            state.units.details(*by).is_some_and(|by| by.mode == Mode::Committed)
                && !state.backing.is_spared(unit, *by)
        };
        let superseders = state.units.superseders(unit).iter().copied().filter(committed);
        let merged = self.merged.get(&unit).into_iter().flatten().copied();
        let stands = |by: &u32| {
            let flags = state.units.flags(*by);
            let there = flags.is_some_and(|by| by.status != UnitStatus::Retracted && !by.purged);
            (there || is_back.contains(by)) && Some(*by) != but && tells(state, unit, *by)
        };
        superseders.chain(merged).find(stands)
    }

    /// What becomes of a unit that nothing puts out of sight any more.
    pub(super) fn status_of(
        &self,
        unit: u32,
        but: Option<u32>,
        is_back: &BTreeSet<u32>,
    ) -> UnitStatus {
        if self.stands_for(unit, but, is_back).is_some() {
            return UnitStatus::Superseded;
        }
        match self.state.units.details(unit).map(|unit| unit.mode) {
            Some(Mode::Draft) => UnitStatus::Draft,
            Some(Mode::Committed) | None if is_disputed(self.state, unit, None) => {
                UnitStatus::Contested
            }
            Some(Mode::Committed) | None => UnitStatus::Active,
        }
    }
}

/// What a settled conflict replaced, and by what: the unit that prevailed, or the synthesis that its commit recorded.
fn settled_by(state: &State, conflict: &ConflictEntry) -> Vec<(u32, u32)> {
    let Some(resolution) = &conflict.resolution else { return Vec::new() };
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
