//! How much a Field has to do. Detection waits where writers would have to wait for it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

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
    /// How many go on.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// One more goes on.
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
