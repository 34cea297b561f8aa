//! Where the hints of traced ATTUNEs are. A hint speaks of no unit, so it goes by its session and its age.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::ids::TraceId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintEntry {
    /// The commit that holds it.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    pub epoch: u64,
    pub session: Option<Name>,
    /// Whether COMPACT deleted it.
    pub purged: bool,
}

/// All hints by the trace that they belong to, which is in the order of their making.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintTable {
    by_trace: BTreeMap<TraceId, HintEntry>,
}

impl HintTable {
    /// All of them, purged or not.
    pub fn iter(&self) -> impl Iterator<Item = (TraceId, &HintEntry)> {
        self.by_trace.iter().map(|(trace, hint)| (*trace, hint))
    }

    #[must_use]
    pub fn get(&self, trace: TraceId) -> Option<&HintEntry> {
        self.by_trace.get(&trace)
    }

    pub fn insert(&mut self, trace: TraceId, hint: HintEntry) {
        self.by_trace.insert(trace, hint);
    }

    /// Notes that one was deleted; whether there is one.
    pub fn purge(&mut self, trace: TraceId) -> bool {
        let found = self.by_trace.get_mut(&trace);
        found.map(|hint| hint.purged = true).is_some()
    }
}
