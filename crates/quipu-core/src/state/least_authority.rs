//! Which authority it takes to record a unit of a type: what the operator of a Field said, else the defaults.

use std::collections::BTreeMap;

use quipu_wire::akashik::{LeastAuthorityRow, MemoryType, Mode};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastAuthority {
    said: BTreeMap<(MemoryType, Mode), u8>,
}

impl LeastAuthority {
    /// Whether all of it is as at first.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// What a unit takes: at least what RECORD takes for its mode.
    #[must_use]
    pub fn of(&self, memory_type: MemoryType, mode: Mode) -> u8 {
        let said = self.said.get(&(memory_type, mode)).copied();
        said.unwrap_or_else(|| at_first(memory_type)).max(of_mode(mode))
    }

    #[must_use]
    pub fn rows(&self) -> Vec<LeastAuthorityRow> {
        let pairs = MemoryType::ALL
            .iter()
            .flat_map(|memory_type| Mode::ALL.iter().map(move |mode| (*memory_type, *mode)));
        let row = |(memory_type, mode)| LeastAuthorityRow {
            memory_type,
            mode,
            authority: self.of(memory_type, mode),
        };
        pairs.map(row).collect()
    }

    pub(crate) fn set(&mut self, row: LeastAuthorityRow) {
        self.said.insert((row.memory_type, row.mode), row.authority);
    }
}

/// Who speaks for a human must be trusted like one, and who binds others must be more than an observer, also in a
/// draft.
const fn at_first(memory_type: MemoryType) -> u8 {
    match memory_type {
        MemoryType::HumanDirective => 9,
        MemoryType::Constraint | MemoryType::Decision => 4,
        MemoryType::Finding
        | MemoryType::Observation
        | MemoryType::Intention
        | MemoryType::Assumption
        | MemoryType::Question
        | MemoryType::Contradiction
        | MemoryType::Synthesis
        | MemoryType::Correction => 0,
    }
}

/// What RECORD takes whatever is said (spec 3.3).
const fn of_mode(mode: Mode) -> u8 {
    match mode {
        Mode::Draft => 2,
        Mode::Committed => 4,
    }
}
