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

    /// An event as the caller may know it: of what an agent was shown, what the caller sees too.
    #[must_use]
    pub fn redact(&self, mut event: Event) -> Event {
        if let Event::AttuneTraced { units, .. } = &mut event {
            units.retain(|shown| !self.units.contains(&shown.unit));
        }
        event
    }
}
