//! What somebody may not know of, by id, for whoever reads the log and not the state.

use std::collections::HashSet;

use crate::{
    event::Event,
    ids::{ConflictId, UnitId},
};

/// What is, to the caller, not there.
#[derive(Debug, Default)]
pub struct Hidden {
    /// The units.
    pub units: HashSet<UnitId>,
    /// The conflicts.
    pub conflicts: HashSet<ConflictId>,
    /// The tasks.
    pub tasks: HashSet<String>,
    /// The handoffs.
    pub handoffs: HashSet<String>,
}

impl Hidden {
    /// Whether nothing is hidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
            && self.conflicts.is_empty()
            && self.tasks.is_empty()
            && self.handoffs.is_empty()
    }

    /// An event as the caller may know it: of what an agent was shown, what the caller sees too.
    #[must_use]
    pub fn redact(&self, mut event: Event) -> Event {
        if let Event::AttuneTraced { units, .. } = &mut event {
            units.retain(|shown| !self.units.contains(&shown.unit));
        }
        event
    }
}
