//! Which units count for an ATTUNE at all, and what became of those that do not.

use quipu_recall::Seen;
use quipu_wire::akashik::{AttunePayload, MemoryType, Scope, TemporalLayer, UnitStatus};

use quipu_core::{
    State,
    state::{AgentEntry, Name, UnitFlags},
};

#[derive(Debug)]
pub(crate) struct Filter<'a> {
    state: &'a State,
    seen: &'a Seen,
    scope: &'a Scope,
    own: Name,
    first: u32,
}

/// Why a unit that the reader may see does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Without {
    /// It was recorded before the epoch that was asked for.
    Before,
    /// The reader recorded it itself.
    Own,
    /// It was replaced or taken back.
    Settled,
    Archived,
    Draft,
    /// It speaks of another time.
    Layer,
}

impl Without {
    /// All of them, in the order in which the answer names them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Before, Self::Own, Self::Settled, Self::Archived, Self::Draft, Self::Layer];

    /// The reason, in words that follow a number.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Before => "recorded before since_epoch",
            Self::Own => "your own (scope.include_own returns them)",
            Self::Settled => "superseded, retracted or purged",
            Self::Archived => "archived (scope.include_archived returns them)",
            Self::Draft => "drafts",
            Self::Layer => "outside of temporal_layers",
        }
    }
}

impl<'a> Filter<'a> {
    pub(crate) fn new(
        state: &'a State,
        seen: &'a Seen,
        agent: &AgentEntry,
        payload: &'a AttunePayload,
    ) -> Self {
        let first = state.units.first_since(payload.since());
        Self { state, seen, scope: &payload.scope, own: agent.name, first }
    }

    pub(crate) fn accepts(&self, ordinal: u32) -> bool {
        ordinal >= self.first
            && self.state.units.flags(ordinal).is_some_and(|flags| self.judge(flags).is_none())
            && self.seen.has(ordinal)
    }

    /// The units that count, newest first.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = u32> {
        (self.first..self.state.units.next_ordinal()).rev().filter(|&at| self.accepts(at))
    }

    pub(crate) fn count(&self) -> usize {
        if self.seen.is_all() && self.first == 0 {
            let kinds = self.state.units.kinds().filter(|(unit, _)| self.judge(unit).is_none());
            return kinds.map(|(_, count)| count).sum();
        }
        let units = (self.first..).zip(self.state.units.flags_from(self.first));
        units.filter(|(at, unit)| self.judge(unit).is_none() && self.seen.has(*at)).count()
    }

    /// How many of the units that the reader may see are left out, by the reason.
    pub(crate) fn left_out(&self) -> Vec<(Without, usize)> {
        let units = (0_u32..).zip(self.state.units.flags_from(0));
        let mut counts = Without::ALL.map(|why| (why, 0));
        for (at, unit) in units.filter(|(at, _)| self.seen.has(*at)) {
            let before = (at < self.first).then_some(Without::Before);
            let why = before.or_else(|| self.judge(unit));
            for (_, count) in counts.iter_mut().filter(|(other, _)| Some(*other) == why) {
                *count += 1;
            }
        }
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn judge(&self, flags: &UnitFlags) -> Option<Without> {
        let settled = match flags.status {
            UnitStatus::Superseded | UnitStatus::Retracted => Some(Without::Settled),
            UnitStatus::Draft => self.scope.exclude_drafts.then_some(Without::Draft),
            UnitStatus::Active | UnitStatus::Contested | UnitStatus::PendingEnrichment => None,
        };
        if flags.purged {
            Some(Without::Settled)
        } else if !self.scope.include_own && flags.author == self.own {
            Some(Without::Own)
        } else if settled.is_some() {
            settled
        } else if flags.archived && !self.scope.include_archived {
            Some(Without::Archived)
        } else {
            (!self.is_in_layers(flags.memory_type)).then_some(Without::Layer)
        }
    }

    fn is_in_layers(&self, memory_type: MemoryType) -> bool {
        let layers = &self.scope.temporal_layers;
        layers.is_empty() || layer(memory_type).is_none_or(|layer| layers.contains(&layer))
    }
}

/// What a type speaks of. Directives hold at all times, so no layer leaves them out.
const fn layer(memory_type: MemoryType) -> Option<TemporalLayer> {
    match memory_type {
        MemoryType::Finding
        | MemoryType::Decision
        | MemoryType::Synthesis
        | MemoryType::Correction => Some(TemporalLayer::Past),
        MemoryType::Observation
        | MemoryType::Assumption
        | MemoryType::Question
        | MemoryType::Constraint
        | MemoryType::Contradiction => Some(TemporalLayer::Present),
        MemoryType::Intention => Some(TemporalLayer::Future),
        MemoryType::HumanDirective => None,
    }
}
