//! The Field as it was: views of earlier positions of the log. They are built from the log when somebody
//! asks, one at a time, and a few are kept. What is in them was public once; who may see it today is
//! for the caller to check.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use quipu_log::{Engine, EngineError, FieldName, Head};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use crate::{
    base::{
        error::{FieldError, Overload},
        limits::{PAST_VIEWS_KEPT, PAST_WAITING_MAX},
    },
    read::view::Published,
    snapshot::{format::SnapshotDir, restore::restore_at},
};

#[derive(Debug)]
pub(crate) struct Past {
    engine: Arc<dyn Engine>,
    field: FieldName,
    snapshots: Option<SnapshotDir>,
    /// As the Field was opened: it decides what is seen and is not in the log.
    cross_session: bool,
    kept: Mutex<Kept>,
    turn: Arc<Turn<()>>,
    waiting: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The most recently used first.
    views: VecDeque<Arc<Published>>,
    /// How often views were forgotten. What was built from the log before is not kept after.
    forgotten: u64,
}

/// The right to build a view, which one caller has at a time.
#[derive(Debug)]
pub(crate) struct Building {
    _turn: OwnedMutexGuard<()>,
}

/// Gives a place in the queue back.
struct QueueSlot(Arc<AtomicUsize>);

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Past {
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        field: FieldName,
        snapshots: Option<SnapshotDir>,
        cross_session: bool,
    ) -> Self {
        let (kept, turn, waiting) = (Mutex::default(), Arc::default(), Arc::default());
        Self { engine, field, snapshots, cross_session, kept, turn, waiting }
    }

    /// The last position whose epoch is not later than this one; 0 where everything is.
    pub(crate) fn position_at(&self, epoch: u64, head: &Head) -> Result<u64, EngineError> {
        let (mut before, mut after) = (0, head.position + 1);
        while before + 1 < after {
            let middle = before.midpoint(after);
            let commit = self.engine.read(&self.field, middle, 1)?.pop();
            let is_later = commit.is_none_or(|commit| commit.head().epoch > epoch);
            *(if is_later { &mut after } else { &mut before }) = middle;
        }
        Ok(before)
    }

    pub(crate) fn kept(&self, position: u64) -> Option<Arc<Published>> {
        let mut kept = self.lock();
        let at = kept.views.iter().position(|view| view.head.position == position)?;
        let view = kept.views.remove(at)?;
        kept.views.push_front(Arc::clone(&view));
        Some(view)
    }

    /// Waits for the right to build. Where many wait already it is refused.
    pub(crate) async fn turn(&self) -> Result<Building, FieldError> {
        let place = QueueSlot(Arc::clone(&self.waiting));
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= PAST_WAITING_MAX {
            return Err(Overload::PastQueueFull.into());
        }
        let turn = Arc::clone(&self.turn).lock_owned().await;
        drop(place);
        Ok(Building { _turn: turn })
    }

    /// Builds the view at a position: from the nearest older one that is kept or saved, and the log.
    pub(crate) fn build(
        &self,
        position: u64,
        _turn: &Building,
        go_on: impl Fn() -> bool,
    ) -> Result<Arc<Published>, EngineError> {
        if let Some(view) = self.kept(position) {
            return Ok(view);
        }
        let (forgotten, older) = {
            let kept = self.lock();
            let older = kept.views.iter().filter(|view| view.head.position < position);
            (kept.forgotten, older.max_by_key(|view| view.head.position).cloned())
        };
        let older = older.map(Arc::unwrap_or_clone);
        let snapshots = self.snapshots.as_ref();
        let mut progress = |_| go_on();
        let mut built = restore_at(
            self.engine.as_ref(),
            &self.field,
            snapshots,
            older,
            position,
            &mut progress,
        )?;
        built.state.cross_session = self.cross_session;
        let built = Arc::new(built);
        let mut kept = self.lock();
        if kept.forgotten == forgotten {
            kept.views.truncate(PAST_VIEWS_KEPT - 1);
            kept.views.push_front(Arc::clone(&built));
        }
        Ok(built)
    }

    /// Drops every view, because words of it were erased.
    pub(crate) fn forget(&self) {
        let mut kept = self.lock();
        *kept = Kept { forgotten: kept.forgotten + 1, ..Kept::default() };
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
