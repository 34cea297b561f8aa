//! Which fields are waited for, and how far each field is known to have grown.
//! A position here is only a reason to read, never the truth: a follower that is woken reads the log.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use quipu_log::{Commit, Engine, EngineError, FieldName};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Followers {
    fields: Mutex<BTreeMap<FieldName, Followed>>,
    moved: Condvar,
    /// Notified when a follower waits for a field that nobody waited for before.
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

    /// [`Engine::follow`] for an engine whose watch reports to these followers.
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

    /// Waits until `field` is known to have grown to `from`, or `timeout` has passed, and returns the position that
    /// is known then. `reached` is the position at which the caller last read.
    pub(crate) fn wait(
        &self,
        field: &FieldName,
        from: u64,
        reached: u64,
        timeout: Duration,
    ) -> u64 {
        let mut fields = self.fields();
        // Reports that arrived while nobody waited count too, so a follower that comes back need not read first.
        let followed = fields.entry(field.clone()).or_insert_with(|| {
            self.wanted.notify_one();
            Followed::default()
        });
        followed.waiting += 1;
        followed.position = followed.position.max(reached);
        let behind = |fields: &mut BTreeMap<FieldName, Followed>| {
            fields.get(field).is_some_and(|followed| followed.position < from)
        };
        let (mut fields, waited) = self
            .moved
            .wait_timeout_while(fields, timeout, behind)
            .unwrap_or_else(PoisonError::into_inner);
        let Some(followed) = fields.get_mut(field) else { return reached };
        followed.waiting -= 1;
        let position = followed.position;
        // Nothing happened in this field, so it is removed: there may be thousands.
        if waited.timed_out() && followed.waiting == 0 {
            fields.remove(field);
        }
        position
    }

    pub(crate) fn waited_for(&self) -> Vec<FieldName> {
        let fields = self.fields();
        let waited = fields.iter().filter(|(_, followed)| followed.waiting > 0);
        waited.map(|(name, _)| name.clone()).collect()
    }

    /// Reports how far a field has grown. Reports may arrive out of order, so the position never goes back.
    pub(crate) fn reached(&self, field: &str, position: u64) {
        let Ok(name) = FieldName::try_from(field) else { return };
        if let Some(followed) = self.fields().get_mut(&name) {
            followed.position = followed.position.max(position);
            self.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn name() -> FieldName {
        FieldName::try_from("f").unwrap()
    }

    /// Waits until somebody waits.
    fn await_follower(followers: &Followers) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(followers.wanted.notified());
    }

    #[test]
    fn whoever_waits_is_told_how_far_it_is() {
        let followers = Followers::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| followers.wait(&name(), 3, 2, LONG));
            await_follower(&followers);
            followers.reached("f", 7);
            assert_eq!(waiting.join().unwrap(), 7);
        });
        assert!(followers.waited_for().is_empty());
    }

    #[test]
    fn what_was_heard_while_nobody_waited_counts() {
        let followers = Followers::default();
        thread::scope(|scope| {
            scope.spawn(|| followers.wait(&name(), 1, 0, LONG));
            await_follower(&followers);
            followers.reached("f", 1);
        });
        followers.reached("f", 5);
        followers.reached("f", 4);
        assert_eq!(followers.wait(&name(), 2, 1, LONG), 5, "at once");
    }

    #[test]
    fn a_field_where_nothing_happens_is_forgotten() {
        let followers = Followers::default();
        assert_eq!(followers.wait(&name(), 3, 2, Duration::ZERO), 2);
        assert!(followers.fields().is_empty());
    }
}
