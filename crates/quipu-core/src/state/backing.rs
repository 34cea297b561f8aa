//! With which authority units were recorded and ballots cast, and what follows from it: which units one does not replace although it
//! says so, and which ones somebody else withdrew. Logs of before say nothing of it, and then there is nothing here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Name;
use crate::ids::ConflictId;

/// Stands for a unit of which nobody noted it.
const UNKNOWN: u8 = u8::MAX;

/// What stands behind units.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backing {
    /// By ordinal, as far as it was noted.
    authorities: Vec<u8>,
    /// A unit, and one that says it supersedes it and may not.
    spared: BTreeSet<(u32, u32)>,
    /// Units that somebody withdrew who is not their author.
    overruled: BTreeSet<u32>,
    /// With which authority ballots were cast.
    ballots: BTreeMap<(ConflictId, Name), u8>,
}

impl Backing {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.authorities.is_empty()
            && self.spared.is_empty()
            && self.overruled.is_empty()
            && self.ballots.is_empty()
    }

    /// The authority that the key really had through which a unit was recorded, where that was noted.
    #[must_use]
    pub fn authority(&self, unit: u32) -> Option<u8> {
        let noted = usize::try_from(unit).ok().and_then(|at| self.authorities.get(at));
        noted.copied().filter(|authority| *authority != UNKNOWN)
    }

    /// Whether a unit says that it supersedes another one and does not.
    #[must_use]
    pub fn is_spared(&self, unit: u32, by: u32) -> bool {
        self.spared.contains(&(unit, by))
    }

    /// Whether somebody withdrew a unit who is not its author.
    #[must_use]
    pub fn is_overruled(&self, unit: u32) -> bool {
        self.overruled.contains(&unit)
    }

    /// The authority with which an agent cast its ballot, where that was noted.
    #[must_use]
    pub fn ballot(&self, conflict: ConflictId, voter: Name) -> Option<u8> {
        self.ballots.get(&(conflict, voter)).copied()
    }

    /// Notes with which authority a ballot was cast.
    pub(crate) fn cast(&mut self, conflict: ConflictId, voter: Name, authority: u8) {
        self.ballots.insert((conflict, voter), authority);
    }

    /// Notes with which authority a unit was recorded.
    pub(crate) fn recorded(&mut self, unit: u32, authority: u8) {
        let Ok(at) = usize::try_from(unit) else { return };
        if self.authorities.len() <= at {
            self.authorities.resize(at + 1, UNKNOWN);
        }
        if let Some(noted) = self.authorities.get_mut(at) {
            *noted = authority;
        }
    }

    /// Notes that a unit stays although another one says that it supersedes it.
    pub(crate) fn spare(&mut self, unit: u32, by: u32) {
        self.spared.insert((unit, by));
    }

    /// Notes whether somebody withdrew a unit who is not its author.
    pub(crate) fn withdrawn(&mut self, unit: u32, overruled: bool) {
        if overruled {
            self.overruled.insert(unit);
        } else {
            self.overruled.remove(&unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_noted_is_not_known() {
        let mut backing = Backing::default();
        assert!(backing.is_empty());
        backing.withdrawn(3, false);
        assert!(backing.is_empty());
        backing.recorded(2, 0);
        assert_eq!([0, 2, 3].map(|unit| backing.authority(unit)), [None, Some(0), None]);
        assert!(!backing.is_empty());
    }
}
