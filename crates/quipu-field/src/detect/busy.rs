//! How much a Field has to do. Detection waits where writers would have to wait for it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// How long a stretch of time is in which arrivals are counted, in milliseconds.
const STRETCH_MS: u64 = 250;

/// How many arrive, in this stretch of time and the one before. Between two syncs nothing may be going on
/// while much is coming, so the RECORDs that are in progress do not show that a Field is busy.
#[derive(Debug, Default)]
pub(super) struct Pace {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    stretch: u64,
    now: usize,
    before: usize,
}

impl Pace {
    /// Counts `arrived` more, and gives the larger of both counts.
    pub(super) fn note(&self, now_ms: u64, arrived: usize) -> usize {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let stretch = now_ms / STRETCH_MS;
        if stretch != counts.stretch {
            let follows = stretch == counts.stretch + 1;
            counts.before = if follows { counts.now } else { 0 };
            (counts.stretch, counts.now) = (stretch, 0);
        }
        counts.now += arrived;
        counts.now.max(counts.before)
    }
}

/// Counts what is going on.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy {
    count: Arc<AtomicUsize>,
}

/// One that goes on; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Going {
    count: Arc<AtomicUsize>,
}

impl Busy {
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self) -> Going {
        self.count.fetch_add(1, Ordering::Relaxed);
        Going { count: Arc::clone(&self.count) }
    }

    /// One more goes on, if fewer than `most` do.
    pub(super) fn try_enter(&self, most: usize) -> Option<Going> {
        let more = |count: usize| (count < most).then_some(count + 1);
        let entered = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        entered.then(|| Going { count: Arc::clone(&self.count) })
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_kept_for_one_stretch_and_then_forgotten() {
        let pace = Pace::default();
        for arrived in 1..=5 {
            assert_eq!(pace.note(1000, 1), arrived);
        }
        assert_eq!(pace.note(1000 + STRETCH_MS, 1), 5);
        assert_eq!(pace.note(1000 + 2 * STRETCH_MS, 0), 1);
        assert_eq!(pace.note(1000 + 9 * STRETCH_MS, 0), 0);
    }

    #[test]
    fn no_more_than_the_most_enter() {
        let busy = Busy::default();
        let first = busy.try_enter(1);
        assert!(first.is_some() && busy.try_enter(1).is_none());
        drop(first);
        assert_eq!(busy.count(), 0);
    }
}
