//! The second half of a purge. The tombstone is a commit like any other; once it is durable, the texts
//! that it names are erased from the log and from whatever was made from it. A process that dies in
//! between leaves the tombstone, and the next opening finishes the work.

use std::collections::BTreeSet;

use quipu_log::{BodyAddress, Engine, EngineError, Erasure, FieldName};

use quipu_wire::akashik::{MemoryType, RelationType};

use crate::{
    base::failure::with_causes,
    snapshot::{depot::Depot, format::SnapshotDir},
};
use quipu_core::{
    State, UnitId,
    state::{HintEntry, LinkTarget, UnitLink},
};

/// Where all purged texts are, or were: those of units, those that speak of them, hints, and removed content.
#[must_use]
pub fn tombstoned(state: &State) -> BTreeSet<BodyAddress> {
    let purged = (0..state.units.next_ordinal())
        .filter(|ordinal| state.units.flags(*ordinal).is_some_and(|unit| unit.purged))
        .collect();
    let hints = state.hints.iter().filter(|(_, entry)| entry.purged).map(|(_, entry)| hint(entry));
    let contents = state.documents.erased();
    let contents = contents.map(|(position, event)| BodyAddress { position, event });
    texts(state, &purged).into_iter().chain(hints).chain(contents).collect()
}

pub(crate) const fn hint(entry: &HintEntry) -> BodyAddress {
    BodyAddress { position: entry.position, event: entry.event }
}

/// Where the texts of some units are. What else speaks of a unit is in the state's own table.
#[must_use]
pub(crate) fn texts(state: &State, ordinals: &BTreeSet<u32>) -> BTreeSet<BodyAddress> {
    let of = |ordinal: &u32| {
        let own = state.units.details(*ordinal).map(|unit| (unit.position, unit.event));
        own.into_iter().chain(state.texts.of(*ordinal).iter().copied())
    };
    let places = ordinals.iter().flat_map(of);
    places.map(|(position, event)| BodyAddress { position, event }).collect()
}

/// What to know of units that were written from purged ones and are still there: they may repeat them.
pub(crate) fn quoted(state: &State, purged: &BTreeSet<u32>) -> Option<String> {
    let quotes = |ordinal: u32| {
        let (Some(flags), Some(details)) =
            (state.units.flags(ordinal), state.units.details(ordinal))
        else {
            return false;
        };
        let from_purged = |link: &UnitLink| match link.target {
            LinkTarget::Unit(target) => {
                link.kind == RelationType::Elaborates && purged.contains(&target)
            }
            LinkTarget::Foreign(_) => false,
        };
        !(flags.purged || purged.contains(&ordinal))
            && flags.memory_type == MemoryType::Synthesis
            && details.links.iter().any(from_purged)
    };
    let units = (0..state.units.next_ordinal()).filter(|ordinal| quotes(*ordinal)).count();
    (units > 0).then(|| {
        format!(
            "synthesis units that elaborate purged ones and may repeat their words: {units}; purge them too if that matters"
        )
    })
}

pub(crate) fn erase(
    engine: &dyn Engine,
    field: &FieldName,
    texts: &BTreeSet<BodyAddress>,
) -> Result<Erasure, EngineError> {
    let texts: Vec<BodyAddress> = texts.iter().copied().collect();
    if texts.is_empty() { Ok(Erasure::default()) } else { engine.erase(field, &texts) }
}

pub(crate) fn purged_units(state: &State) -> impl Iterator<Item = UnitId> {
    (0..state.units.next_ordinal())
        .filter(|ordinal| state.units.flags(*ordinal).is_some_and(|unit| unit.purged))
        .filter_map(|ordinal| state.units.details(ordinal))
        .map(|unit| unit.id)
}

/// Finishes, at opening, what a process may have left undone. A failure is logged and does not keep the
/// Field closed: the units are out of sight, and the next opening tries again.
pub(crate) fn finish(
    engine: &dyn Engine,
    field: &FieldName,
    state: &State,
    snapshots: Option<&SnapshotDir>,
    depot: Option<&Depot>,
) {
    if state.last_purge == 0 {
        return;
    }
    if let Some(depot) = depot {
        depot.discard_before(field, state.last_purge);
    }
    if let Some(Err(error)) = snapshots.map(|dir| dir.discard_before(state.last_purge)) {
        tracing::error!(%field, error = with_causes(&error), "an old snapshot was not deleted");
    }
    match erase(engine, field, &tombstoned(state)) {
        Ok(erased) if erased.bodies_erased > 0 => {
            tracing::warn!(%field, bodies = erased.bodies_erased, "finished an interrupted purge");
        }
        Ok(_) => {}
        Err(error) => {
            tracing::error!(%field, error = with_causes(&error), "a purge is not finished");
        }
    }
}
