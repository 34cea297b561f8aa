//! What agents were shown last, where ATTUNE is traced: the traces that came before the next unit that each
//! records in the same session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::{ids::TraceId, limits::TRACES_BEFORE_UNIT_MAX};

/// The traces of one agent in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    traces: Vec<TraceId>,
    /// Whether it recorded something since: the next trace begins anew.
    used: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentTraces {
    recent: BTreeMap<(Name, Option<Name>), Recent>,
}

impl RecentTraces {
    /// What an agent was shown in a session before what it records next, oldest first.
    #[must_use]
    pub fn before(&self, agent: Name, session: Option<Name>) -> &[TraceId] {
        self.recent.get(&(agent, session)).map_or(&[], |recent| recent.traces.as_slice())
    }

    /// An agent was shown something.
    pub fn traced(&mut self, agent: Name, session: Option<Name>, trace: TraceId) {
        let recent = self.recent.entry((agent, session)).or_default();
        if std::mem::take(&mut recent.used) {
            recent.traces.clear();
        }
        if recent.traces.len() == TRACES_BEFORE_UNIT_MAX {
            recent.traces.remove(0);
        }
        recent.traces.push(trace);
    }

    pub fn recorded(&mut self, agent: Name, session: Option<Name>) {
        if let Some(recent) = self.recent.get_mut(&(agent, session)) {
            recent.used = true;
        }
    }

    /// An agent left.
    pub fn forget(&mut self, agent: Name) {
        self.recent.retain(|(of, _), _| *of != agent);
    }
}
