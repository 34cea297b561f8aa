//! Which sessions are copies of others: forks and replays. Logs of before say nothing of it, and then there is nothing here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Name;

/// Sessions by their ids, each with the one that it is a copy of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCopies {
    original_of: BTreeMap<Name, Name>,
}

impl SessionCopies {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.original_of.is_empty()
    }

    /// The sessions that a session is a copy of, the nearest first.
    pub fn originals(&self, session: Name) -> impl Iterator<Item = Name> {
        let next = |of: &Name| self.original_of.get(of).copied();
        // A copy is younger than what it is a copy of. Where bytes say otherwise, this ends all the same.
        std::iter::successors(next(&session), next).take(self.original_of.len())
    }

    /// Notes what a session is a copy of.
    pub(crate) fn copied(&mut self, session: Name, original: Name) {
        self.original_of.insert(session, original);
    }
}
