//! The replayed events that were read last, so that paging through a long replay does not begin at its start each
//! time.

use std::sync::{Arc, Mutex, PoisonError};

use quipu_wire::harn::Event;

/// The replayed events that were read last. Without it every page would be derived from the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplayedCache(Arc<Mutex<Option<Stretch>>>);

/// Some events of one replay, in order.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) task: String,
    /// The last purge before it: what was erased since must not be read from here.
    pub(crate) purged: u64,
    /// The number of the first.
    pub(crate) first: u64,
    pub(crate) events: Vec<Event>,
    /// Whether nothing comes behind them.
    pub(crate) whole: bool,
}

impl ReplayedCache {
    /// A part of it, if it holds all of that.
    pub(crate) fn part(
        &self,
        task: &str,
        purged: u64,
        from: u64,
        limit: usize,
    ) -> Option<Vec<Event>> {
        let stretch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stretch =
            stretch.as_ref().filter(|stretch| stretch.task == task && stretch.purged == purged)?;
        let skipped = usize::try_from(from.checked_sub(stretch.first)?).ok()?;
        let rest = stretch.events.get(skipped..)?;
        let enough = stretch.whole || rest.len() >= limit;
        enough.then(|| rest.iter().take(limit).cloned().collect())
    }

    /// Keeps them in the place of those before.
    pub(crate) fn keep(&self, stretch: Stretch) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(stretch);
    }
}
