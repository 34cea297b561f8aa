//! The sessions that SESSION opened. A session id that is only a label on messages is not here.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::akashik::{SessionPolicy, SessionStatus};
use serde::{Deserialize, Serialize};

use super::Name;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Its id, as units name their session.
    pub name: Name,
    pub creator: String,
    pub status: SessionStatus,
    pub members: BTreeSet<String>,
    /// Who left it, and under which role: who comes back under another one is let in by others.
    pub left_as: BTreeMap<String, String>,
    pub policy: SessionPolicy,
    /// The commit that opened it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    pub epoch_created: u64,
    pub epoch_ended: Option<u64>,
    /// The commits that changed it, oldest first: what it was after each can be told again.
    pub changes: Vec<u64>,
    /// When it was opened, in milliseconds since 1970.
    pub created_ms: u64,
    pub updated_ms: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTable {
    by_id: BTreeMap<String, SessionEntry>,
}

impl SessionTable {
    /// The session of that id, if SESSION opened one.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&SessionEntry> {
        self.by_id.get(id)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut SessionEntry> {
        self.by_id.get_mut(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &SessionEntry)> {
        self.by_id.iter().map(|(id, session)| (id.as_str(), session))
    }

    pub fn insert(&mut self, id: &str, session: SessionEntry) {
        self.by_id.insert(id.to_owned(), session);
    }
}
