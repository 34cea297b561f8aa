//! What follows from a vector that arrived: a unit that waited for it is active. Not an operation of
//! the protocol; the vector itself is an approximation and never enters the log.

use quipu_log::DraftEvent;
use quipu_wire::akashik::UnitStatus;

use super::{Refusal, detect::is_disputed};
use crate::{event::Event, rules::Decision, state::State};

/// The rule: each unit that still waits becomes active, and contested where it was disputed meanwhile.
pub fn note(state: &State, units: &[u32]) -> Result<Decision, Refusal> {
    let mut events = Decision::new();
    let mut change = |unit, from, to| {
        let event = Event::UnitStatusChanged { unit, from, to };
        events.push(DraftEvent { event, body: None });
    };
    for &ordinal in units {
        let (Some(flags), Some(unit)) = (state.units.flags(ordinal), state.units.details(ordinal))
        else {
            continue;
        };
        if flags.status != UnitStatus::PendingEnrichment {
            continue;
        }
        change(unit.id, UnitStatus::PendingEnrichment, UnitStatus::Active);
        if is_disputed(state, ordinal, None) {
            change(unit.id, UnitStatus::Active, UnitStatus::Contested);
        }
    }
    Ok(events)
}
