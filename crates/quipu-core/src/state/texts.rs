//! Where texts are that speak of a unit besides its own: why it was retracted, what was said of its
//! conflicts, the handoffs that carry it. They go when the unit is purged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The texts that speak of units, by unit: commit and event of each, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextTable {
    by_unit: BTreeMap<u32, Vec<(u64, u32)>>,
}

impl TextTable {
    /// Notes that the text of an event speaks of a unit.
    pub fn note(&mut self, unit: u32, position: u64, event: u32) {
        let texts = self.by_unit.entry(unit).or_default();
        if texts.last() != Some(&(position, event)) {
            texts.push((position, event));
        }
    }

    /// The texts that speak of a unit.
    #[must_use]
    pub fn of(&self, unit: u32) -> &[(u64, u32)] {
        self.by_unit.get(&unit).map_or(&[], Vec::as_slice)
    }
}
