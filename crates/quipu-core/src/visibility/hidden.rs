//! What somebody may not know of, by id, for whoever reads the log and not the state.

use std::collections::HashSet;

use crate::{
    event::Event,
    ids::{ConflictId, UnitId},
};

/// What is, to the caller, not there.
#[derive(Debug, Default)]
pub struct Hidden {
    pub units: HashSet<UnitId>,
    pub conflicts: HashSet<ConflictId>,
    pub tasks: HashSet<String>,
    pub handoffs: HashSet<String>,
}

impl Hidden {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
            && self.conflicts.is_empty()
            && self.tasks.is_empty()
            && self.handoffs.is_empty()
    }

    /// Leaves of an event what the caller may know: of what an agent was shown, and of what was put away or deleted, what
    /// the caller sees too.
    pub fn redact(&self, event: &mut Event) {
        if self.units.is_empty() {
            return;
        }
        if let Event::AttuneTraced { units, .. } = event {
            units.retain(|shown| !self.units.contains(&shown.unit));
        } else if let Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } = event
        {
            units.retain(|unit| !self.units.contains(unit));
        }
    }
}
