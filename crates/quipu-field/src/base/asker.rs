//! On whose behalf something is asked, and whether anybody still waits for it. Both go with the request, not with the
//! arguments: what asks is known where a key is proven, and what costs is done far below.

use std::{
    cell::RefCell,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use quipu_log::EngineError;

use crate::base::limits::TURNS_WAITING_MAX;

tokio::task_local! {
    static CURRENT: Asker;
}

thread_local! {
    /// For whom this thread works.
    static WORKING_FOR: RefCell<Option<Wait>> = const { RefCell::new(None) };
}

/// Who asks: nobody that is known until a key is proven.
#[derive(Debug, Clone, Default)]
pub struct Asker(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    key: OnceLock<Arc<str>>,
    is_kept: AtomicBool,
}

impl Asker {
    /// The one whose request is worked on; nobody where the process itself is at work.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Self::clone).unwrap_or_default()
    }

    /// Says which key was proven for the request that is worked on. The first one counts.
    pub fn prove(key: &str) {
        // The process itself proves nothing.
        CURRENT.try_with(|asker| asker.0.key.get_or_init(|| key.into()).len()).ok();
    }

    /// Whose turns a request takes.
    pub(crate) fn current_key() -> Option<(Self, Arc<str>)> {
        let asker = CURRENT.try_with(Self::clone).ok()?;
        let key = asker.0.key.get().cloned()?;
        Some((asker, key))
    }

    /// Works on a request of this one.
    pub fn asks<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, work)
    }

    /// From now on its request is not turned away any more: something was done for it, or written, or it is a stream.
    pub fn keep(&self) {
        self.0.is_kept.store(true, Ordering::Relaxed);
    }

    pub(crate) fn may_wait_behind(&self, waiting: usize) -> bool {
        waiting < TURNS_WAITING_MAX || self.0.is_kept.load(Ordering::Relaxed)
    }
}

/// Whether somebody waits for the end of some work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wait(Arc<AtomicBool>);

impl Wait {
    pub(crate) fn give_up(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does something on this thread that may ask meanwhile whether it is still waited for.
    pub(crate) fn during<T>(self, work: impl FnOnce() -> T) -> T {
        let _guard = Working(WORKING_FOR.replace(Some(self)));
        work()
    }
}

/// Puts back for whom the thread worked before, also after a panic.
struct Working(Option<Wait>);

impl Drop for Working {
    fn drop(&mut self) {
        WORKING_FOR.replace(self.0.take());
    }
}

/// Whether whoever asked for what this thread does has left.
#[must_use]
pub fn nobody_waits() -> bool {
    WORKING_FOR.with_borrow(|wait| wait.as_ref().is_some_and(Wait::is_over))
}

/// Ends a read that nobody waits for.
pub(crate) fn check_waited_for() -> Result<(), EngineError> {
    if !nobody_waits() {
        return Ok(());
    }
    let source = "whoever asked has left".into();
    Err(EngineError::Unavailable { action: "go on reading".to_owned(), source })
}
