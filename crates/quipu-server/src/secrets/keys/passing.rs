//! Changes of keys that end with the process. A server without keys takes orders from whoever reaches it, so what is
//! made or revoked there must not count once keys are asked for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::StoredKey;

/// The keys that were made or revoked since; none where changes are for good.
#[derive(Debug, Default)]
pub(super) struct PassingKeys(Mutex<Option<Vec<StoredKey>>>);

impl PassingKeys {
    /// From now on changes end with the process.
    pub(super) fn begin(&self) {
        self.keys().get_or_insert_default();
    }

    pub(super) fn has_begun(&self) -> bool {
        self.keys().is_some()
    }

    /// The stored keys, with what was changed since.
    pub(super) fn over(&self, mut stored: Vec<StoredKey>) -> Vec<StoredKey> {
        for changed in self.keys().iter().flatten() {
            match stored.iter_mut().find(|key| key.info.id == changed.info.id) {
                Some(key) => *key = changed.clone(),
                None => stored.push(changed.clone()),
            }
        }
        stored
    }

    /// Keeps what is not as it is stored.
    pub(super) fn keep(&self, stored: &[StoredKey], keys: Vec<StoredKey>) {
        let is_stored = |key: &StoredKey| stored.iter().any(|other| other.info == key.info);
        *self.keys() = Some(keys.into_iter().filter(|key| !is_stored(key)).collect());
    }

    fn keys(&self) -> MutexGuard<'_, Option<Vec<StoredKey>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
