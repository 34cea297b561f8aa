//! Through which keys for any agent ballots were cast. Logs of before say nothing of it, and then there is nothing here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::ids::ConflictId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Cast {
    key: Name,
    /// The commit.
    position: u64,
}

/// The ballots that came through such a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotKeys {
    /// By conflict, by voter.
    cast: BTreeMap<ConflictId, BTreeMap<Name, Cast>>,
}

impl BallotKeys {
    /// Whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cast.is_empty()
    }

    /// The key of a ballot, where it came through such a one.
    #[must_use]
    pub fn of(&self, conflict: ConflictId, voter: Name) -> Option<Name> {
        Some(self.cast.get(&conflict)?.get(&voter)?.key)
    }

    /// Whether a ballot counts where another voter is about to vote again: of those that came through one key only the last
    /// one does.
    #[must_use]
    pub fn counts(&self, conflict: ConflictId, voter: Name, again: Name) -> bool {
        let Some(cast) = self.cast.get(&conflict) else { return true };
        let Some(own) = cast.get(&voter) else { return true };
        let mut others = cast.iter().filter(|(of, _)| **of != again).map(|(_, other)| other);
        !others.any(|other| other.key == own.key && other.position > own.position)
    }

    /// Notes a ballot, and forgets the key of the one that it replaces.
    pub(crate) fn cast(
        &mut self,
        (conflict, voter): (ConflictId, Name),
        key: Option<Name>,
        position: u64,
    ) {
        if let Some(key) = key {
            self.cast.entry(conflict).or_default().insert(voter, Cast { key, position });
        } else if let Some(cast) = self.cast.get_mut(&conflict) {
            cast.remove(&voter);
        }
    }
}
