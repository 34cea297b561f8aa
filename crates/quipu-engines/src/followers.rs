//! Who waits for which field, and how far each field is known to have come.
//! A position here is a reason to look, never the truth: whoever is woken reads.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_log::{Commit, Engine, EngineError, FieldName};
use tokio::sync::Notify;

/// The fields that somebody waits for.
#[derive(Debug, Default)]
pub(crate) struct Followers {
    fields: Mutex<BTreeMap<FieldName, Followed>>,
    moved: Condvar,
    /// Told when the first follower comes, so that nobody watches for nobody.
    pub(crate) wanted: Notify,
}

#[derive(Debug, Default)]
struct Followed {
    waiting: usize,
    position: u64,
}

impl Followers {
    fn fields(&self) -> MutexGuard<'_, BTreeMap<FieldName, Followed>> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`Engine::follow`], for an engine whose watch tells these followers.
    pub(crate) fn follow(
        &self,
        engine: &dyn Engine,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        let page = engine.read(field, from, limit)?;
        if !page.is_empty() || timeout.is_zero() {
            return Ok(page);
        }
        self.wait(field, from, from.saturating_sub(1), timeout);
        engine.read(field, from, limit)
    }

    /// Waits until `field` is known to have come to `from`, or `timeout` has passed. `reached` is where it was when
    /// the caller looked last.
    fn wait(&self, field: &FieldName, from: u64, reached: u64, timeout: Duration) {
        let mut fields = self.fields();
        let followed = fields.entry(field.clone()).or_default();
        followed.waiting += 1;
        if followed.waiting == 1 {
            followed.position = reached;
        }
        self.wanted.notify_one();
        let behind = |fields: &mut BTreeMap<FieldName, Followed>| {
            fields.get(field).is_some_and(|followed| followed.position < from)
        };
        let (mut fields, _) = self
            .moved
            .wait_timeout_while(fields, timeout, behind)
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(followed) = fields.get_mut(field) {
            followed.waiting -= 1;
            if followed.waiting == 0 {
                fields.remove(field);
            }
        }
    }

    /// The fields that somebody waits for now.
    pub(crate) fn waited_for(&self) -> Vec<FieldName> {
        self.fields().keys().cloned().collect()
    }

    /// Says where a field is.
    pub(crate) fn reached(&self, field: &str, position: u64) {
        let Ok(name) = FieldName::try_from(field) else { return };
        if let Some(followed) = self.fields().get_mut(&name) {
            followed.position = position;
            self.moved.notify_all();
        }
    }
}
