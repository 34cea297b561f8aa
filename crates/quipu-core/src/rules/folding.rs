//! What a summarize leaves as it is, because it holds, and what the summaries of before stand for. Asked by COMPACT alone.

use std::collections::BTreeSet;

use quipu_wire::akashik::{CompactFilter, MemoryType, Mode, RelationType, UnitStatus};

use crate::{
    state::{State, UnitFlags},
    visibility::Sight,
};

/// What is asked of every unit that a summarize may take, worked out once.
#[derive(Debug)]
pub(super) struct Holding<'a> {
    filter: &'a CompactFilter,
    /// The units that the filter names by their ids.
    named: &'a BTreeSet<u32>,
    answered: BTreeSet<u32>,
}

impl<'a> Holding<'a> {
    pub(super) fn of(
        state: &State,
        sight: &Sight<'_>,
        filter: &'a CompactFilter,
        named: &'a BTreeSet<u32>,
    ) -> Self {
        Self { filter, named, answered: answered(state, sight) }
    }

    /// Whether a unit holds and stays as it is: the filter does not name it by its id, and neither, for what is disputed,
    /// by that status, nor, for a directive, a constraint or a decision in force and for an open question, by its type.
    pub(super) fn keeps(&self, unit: u32, flags: &UnitFlags) -> bool {
        if self.named.contains(&unit) {
            return false;
        }
        let is_contested = flags.status == UnitStatus::Contested;
        if is_contested && !self.filter.status.contains(&UnitStatus::Contested) {
            return true;
        }
        let is_in_force = match flags.status {
            UnitStatus::Active | UnitStatus::Contested | UnitStatus::PendingEnrichment => true,
            UnitStatus::Draft | UnitStatus::Superseded | UnitStatus::Retracted => false,
        };
        let holds = match flags.memory_type {
            MemoryType::HumanDirective | MemoryType::Constraint | MemoryType::Decision => true,
            MemoryType::Question => !self.answered.contains(&unit),
            MemoryType::Finding
            | MemoryType::Observation
            | MemoryType::Intention
            | MemoryType::Assumption
            | MemoryType::Contradiction
            | MemoryType::Correction
            | MemoryType::Synthesis => false,
        };
        is_in_force && holds && !self.filter.types.contains(&flags.memory_type)
    }
}

/// The units that others answer, as far as the caller sees these and they were not withdrawn.
fn answered(state: &State, sight: &Sight<'_>) -> BTreeSet<u32> {
    let stands = |unit: &u32| {
        let flags = state.units.flags(*unit);
        flags.is_some_and(|it| !it.purged && it.status != UnitStatus::Retracted)
            && sight.sees(*unit)
    };
    let answers = (0..state.units.next_ordinal()).filter_map(|unit| {
        let targets = state.units.details(unit)?.linked(RelationType::Answers);
        (!targets.is_empty() && stands(&unit)).then_some(targets)
    });
    answers.flatten().collect()
}

/// The units that may be summaries of before, if the log says that COMPACT wrote them: syntheses that elaborate something.
#[must_use]
pub fn may_be_summaries(state: &State) -> BTreeSet<u32> {
    let may_be = |unit: &u32| {
        let flags = state.units.flags(*unit);
        flags.is_some_and(|flags| flags.memory_type == MemoryType::Synthesis)
            && state.units.details(*unit).is_some_and(|details| {
                details.mode == Mode::Committed
                    && !details.linked(RelationType::Elaborates).is_empty()
            })
    };
    (0..state.units.next_ordinal()).filter(may_be).collect()
}

/// Whether nobody disputes, replaced, withdrew or erased a unit.
pub(super) fn is_in_force(state: &State, unit: u32) -> bool {
    let flags = state.units.flags(unit);
    flags.is_some_and(|flags| flags.status == UnitStatus::Active && !flags.purged)
}

/// What a summary stands for: the units that it elaborates but for other summaries, whose texts are still there.
#[must_use]
pub fn originals(state: &State, summary: u32, earlier: &BTreeSet<u32>) -> BTreeSet<u32> {
    let elaborated = state.units.details(summary).map(|unit| unit.linked(RelationType::Elaborates));
    let mut originals = elaborated.unwrap_or_default();
    originals.retain(|unit| {
        let flags = state.units.flags(*unit);
        flags.is_some_and(|flags| !flags.purged) && !earlier.contains(unit)
    });
    originals
}
