//! Idempotency keys that are remembered for a day, whatever happens meanwhile. Digests only.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::Hash;
use serde::{Deserialize, Serialize};

use crate::event::documents::IdempotencyMark;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyTable {
    by_scope: BTreeMap<Hash, (u64, u64)>,
    by_end: BTreeSet<(u64, Hash)>,
}

impl IdempotencyTable {
    /// The commit that first used a key, if it is still remembered at a time.
    #[must_use]
    pub fn find(&self, scope: &Hash, time_ms: u64) -> Option<u64> {
        let (position, until_ms) = self.by_scope.get(scope)?;
        (*until_ms > time_ms).then_some(*position)
    }

    /// Remembers a key, and forgets those whose time is over.
    pub fn keep(&mut self, mark: &IdempotencyMark, position: u64, time_ms: u64) {
        while let Some((until_ms, scope)) = self.by_end.first().copied()
            && until_ms <= time_ms
        {
            self.by_end.pop_first();
            if self.by_scope.get(&scope).is_some_and(|(_, until)| *until == until_ms) {
                self.by_scope.remove(&scope);
            }
        }
        self.by_scope.insert(mark.scope, (position, mark.until_ms));
        self.by_end.insert((mark.until_ms, mark.scope));
    }
}
