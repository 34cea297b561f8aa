//! Replacing what others recorded: who may, what a unit replaced, and what is to come back once it is withdrawn. Asked by
//! RECORD, MERGE, retractions, restorations, and where a session is closed.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{Mode, UnitStatus};

use super::{
    detect::{is_disputed, is_visible_with},
    policies::Policies,
};
use crate::{
    limits::{
        REPLACE_MANY_AUTHORITY, REPLACED_MAX, REPLACED_WITHIN, REPLACED_WITHIN_MS,
        REPLACERS_LOOKED_AT_MAX,
    },
    message::Message,
    state::{AgentEntry, Name, Replacer, State, settled_by, superseded_by},
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
    /// The key, where it may speak for any agent and is too weak itself to replace many units.
    shared_key: Option<Name>,
    /// When it asks, in milliseconds since 1970.
    now_ms: u64,
}

impl<'s> Claim<'s> {
    pub(super) fn of(
        state: &'s State,
        author: &AgentEntry,
        message: &Message,
        now_ms: u64,
    ) -> Self {
        let authority = author.authority.min(message.authority);
        let shared_key = message.shared_key().and_then(|key| state.names.find(key));
        let (author, own_key) = (author.name, message.own_key);
        Self { state, author, authority, own_key, shared_key, now_ms }
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

    /// The authority that it takes to replace so many units of others besides those that it replaced of late, where
    /// the sender has not got it.
    pub(super) fn lacks_for_all(self, units: &BTreeSet<u32>) -> Option<u8> {
        if self.authority >= REPLACE_MANY_AUTHORITY {
            return None;
        }
        let of_others = units.iter().filter(|unit| !self.owns(**unit)).count();
        let many = of_others > 0 && of_others + self.replaced_of_late() > REPLACED_MAX;
        many.then_some(REPLACE_MANY_AUTHORITY)
    }

    /// How many units of others gave way to the sender's of late, and were not brought back since: up to one more than may.
    fn replaced_of_late(self) -> usize {
        let mut replaced = BTreeSet::new();
        let replacers = &self.state.replacers;
        let of_key = self.shared_key.into_iter().flat_map(|key| replacers.of_key(key));
        let enough = self.collect(replacers.of_author(self.author), &mut replaced)
            || self.collect(of_key, &mut replaced);
        if enough { REPLACED_MAX } else { replaced.len() }
    }

    /// Takes up what gave way to the newest of the sender's. Whether that is as many as may, or there is too much to look at.
    fn collect(
        self,
        newest: impl Iterator<Item = (u64, Replacer)>,
        replaced: &mut BTreeSet<u32>,
    ) -> bool {
        let of_late = newest.take_while(|it| self.is_of_late(*it));
        for (at, (_, replacer)) in of_late.enumerate() {
            replaced.extend(self.given_way_to(replacer));
            if replaced.len() >= REPLACED_MAX || at >= REPLACERS_LOOKED_AT_MAX {
                return true;
            }
        }
        false
    }

    /// Whether something is among the last commits, or happened within the last day. Of a settled conflict the time is that
    /// of what was recorded after it.
    fn is_of_late(self, (position, replacer): (u64, Replacer)) -> bool {
        let units = &self.state.units;
        let unit = match replacer {
            Replacer::Unit(unit) => unit,
            Replacer::Conflict(_) => units.first_behind(position),
        };
        let time_ms = units.details(unit).map_or(self.now_ms, |unit| unit.time_ms);
        position > self.state.position.saturating_sub(REPLACED_WITHIN)
            || time_ms > self.now_ms.saturating_sub(REPLACED_WITHIN_MS)
    }

    /// The units of others that gave way and did not come back.
    fn given_way_to(self, replacer: Replacer) -> impl Iterator<Item = u32> {
        let state = self.state;
        let pairs: Vec<(u32, u32)> = match replacer {
            Replacer::Unit(by) => {
                superseded_by(state, by).into_iter().map(|unit| (unit, by)).collect()
            }
            Replacer::Conflict(id) => state.conflicts.get(id).map_or_else(Vec::new, |conflict| {
                let judge = conflict.resolution.as_ref().map(|settled| settled.by);
                // What somebody else settled in the sender's favour is not the sender's doing.
                let counts = |by: u32| self.is_by_key(by) || judge == Some(self.author);
                settled_by(state, conflict).into_iter().filter(|(_, by)| counts(*by)).collect()
            }),
        };
        let flags = |unit| state.units.flags(unit);
        let of_others = pairs.into_iter().filter(move |(unit, by)| {
            let author = flags(*by).map(|by| by.author);
            flags(*unit).is_some_and(|unit| {
                unit.status == UnitStatus::Superseded && Some(unit.author) != author
            })
        });
        of_others.map(|(unit, _)| unit)
    }

    /// Whether the sender recorded a unit, or somebody else through its key.
    pub(super) fn is_senders(self, unit: u32) -> bool {
        let of_name = self.state.units.flags(unit).is_some_and(|unit| unit.author == self.author);
        of_name || self.is_by_key(unit)
    }

    fn is_by_key(self, unit: u32) -> bool {
        self.shared_key.is_some_and(|key| self.state.unit_keys.of(unit) == Some(key))
    }
}

/// What replaced what, as far as it is asked for once: the settled conflicts are gone through when it is made.
#[derive(Debug)]
pub(super) struct Replacements<'s> {
    policies: Policies<'s>,
    /// By the unit that lost: those that prevailed.
    merged: BTreeMap<u32, BTreeSet<u32>>,
}

impl<'s> Replacements<'s> {
    pub(super) fn of(policies: impl Into<Policies<'s>>) -> Self {
        let policies = policies.into();
        let state = policies.state;
        let mut merged: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for conflict in state.conflicts.iter() {
            for (unit, by) in settled_by(state, conflict) {
                merged.entry(unit).or_default().insert(by);
            }
        }
        Self { policies, merged }
    }

    /// The same under other policies.
    pub(super) fn under(self, policies: Policies<'s>) -> Self {
        Self { policies, ..self }
    }

    /// The units that a unit replaces: what it supersedes, and what it prevailed over.
    pub(super) fn by(&self, unit: u32) -> BTreeSet<u32> {
        let mut replaced = superseded_by(self.policies.state, unit);
        let lost = self.merged.iter().filter(|(_, by)| by.contains(&unit));
        replaced.extend(lost.map(|(lost, _)| *lost));
        replaced.retain(|target| is_visible_with(self.policies, *target, unit));
        replaced
    }

    /// What units of a session replace, each with the unit that replaces it.
    pub(super) fn by_session(&self, session: Name) -> BTreeSet<(u32, u32)> {
        let units = &self.policies.state.units;
        let within = |unit: &u32| units.session_of(*unit) == Some(session);
        let superseded = (0..units.next_ordinal()).filter(within).flat_map(|by| {
            let replaced = superseded_by(self.policies.state, by);
            replaced.into_iter().map(move |unit| (unit, by))
        });
        let merged = self
            .merged
            .iter()
            .flat_map(|(unit, all)| all.iter().filter(|by| within(by)).map(move |by| (*unit, *by)));
        let pairs = superseded.chain(merged);
        pairs.filter(|(unit, by)| is_visible_with(self.policies, *unit, *by)).collect()
    }

    /// The unit that replaces another one and was not withdrawn. `is_back` says which withdrawn ones are back, and
    /// `but` which one goes.
    pub(super) fn stands_for(
        &self,
        unit: u32,
        but: Option<u32>,
        is_back: &BTreeSet<u32>,
    ) -> Option<u32> {
        let state = self.policies.state;
        let committed = |by: &u32| {
            state.units.details(*by).is_some_and(|by| by.mode == Mode::Committed)
                && !state.backing.is_spared(unit, *by)
        };
        let superseders = state.units.superseders(unit).iter().copied().filter(committed);
        let merged = self.merged.get(&unit).into_iter().flatten().copied();
        let stands = |by: &u32| {
            let flags = state.units.flags(*by);
            let there = flags.is_some_and(|by| by.status != UnitStatus::Retracted && !by.purged);
            (there || is_back.contains(by))
                && Some(*by) != but
                && is_visible_with(self.policies, unit, *by)
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
        match self.policies.state.units.details(unit).map(|unit| unit.mode) {
            Some(Mode::Draft) => UnitStatus::Draft,
            Some(Mode::Committed) | None if is_disputed(self.policies, unit, None) => {
                UnitStatus::Contested
            }
            Some(Mode::Committed) | None => UnitStatus::Active,
        }
    }
}
