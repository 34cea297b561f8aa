//! Through which keys units were recorded. Logs of before say nothing of it, and then there is nothing here.

use serde::{Deserialize, Serialize};

use super::Name;

/// The ids of keys, by the ordinals of the units that came through them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitKeys {
    keys: Vec<Option<Name>>,
}

impl UnitKeys {
    /// Whether nothing was noted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The id of the key through which a unit was recorded, where that was noted.
    #[must_use]
    pub fn of(&self, unit: u32) -> Option<Name> {
        usize::try_from(unit).ok().and_then(|at| self.keys.get(at)).copied().flatten()
    }

    /// Notes through which key a unit was recorded.
    pub(crate) fn recorded(&mut self, unit: u32, key: Name) {
        let Ok(at) = usize::try_from(unit) else { return };
        if self.keys.len() <= at {
            self.keys.resize(at + 1, None);
        }
        if let Some(noted) = self.keys.get_mut(at) {
            *noted = Some(key);
        }
    }
}
