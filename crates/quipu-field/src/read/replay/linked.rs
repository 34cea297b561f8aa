//! What an entry of a timeline is linked with, by id, so that a reader can draw it. What is hidden from the
//! caller is not named.

use quipu_core::visibility::Hidden;
use quipu_wire::akashik::{ReplayLinks, ShownUnit};

use super::{
    chain::Found,
    links::{Entity, links},
};
use quipu_core::Event;

/// Ids that are named at most: a purge can be about very many units.
const NAMED_MAX: usize = 256;

pub(crate) fn linked(found: &Found, hidden: &Hidden) -> ReplayLinks {
    let links = links(&found.event);
    let named = |entities: &[Entity<'_>]| {
        let seen = entities.iter().filter(|entity| !is_hidden(entity, hidden));
        seen.filter_map(name).take(NAMED_MAX).collect()
    };
    ReplayLinks {
        about: named(&links.about),
        rests_on: named(&links.rests_on),
        shown: returned_units(&found.event, hidden),
    }
}

fn returned_units(event: &Event, hidden: &Hidden) -> Vec<ShownUnit> {
    let Event::AttuneTraced { units, .. } = event else { return Vec::new() };
    let seen = units.iter().filter(|shown| !hidden.units.contains(&shown.unit));
    seen.map(|shown| ShownUnit {
        memory_unit_id: shown.unit.to_string(),
        relevance_score: shown.score,
    })
    .collect()
}

/// What was done for a task is named by the entry's own `task_id`.
fn name(entity: &Entity<'_>) -> Option<String> {
    Some(match entity {
        Entity::Unit(unit) => unit.to_string(),
        Entity::Conflict(conflict) => conflict.to_string(),
        Entity::Task(task) => (*task).to_owned(),
        Entity::Trace(trace) => trace.to_string(),
        Entity::Work(_) => return None,
    })
}

fn is_hidden(entity: &Entity<'_>, hidden: &Hidden) -> bool {
    match entity {
        Entity::Unit(unit) => hidden.units.contains(unit),
        Entity::Conflict(conflict) => hidden.conflicts.contains(conflict),
        Entity::Task(task) => hidden.tasks.contains(*task),
        Entity::Work(_) | Entity::Trace(_) => false,
    }
}
