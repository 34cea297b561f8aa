//! What a Field reports to whoever counts: how its log keeps up, and how it keeps up with its log. Nothing of it is ever
//! part of a decision or of the state.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// Measures what happens between a Field and its log. Called by the writer: it must not take long.
pub trait Meter: Send + Sync + fmt::Debug + 'static {
    /// So many commits were appended and synced at once.
    fn appended(&self, commits: usize, took: Duration);
    /// Another node was faster, and what was decided is decided again.
    fn conflicted(&self);
    /// It was this node's turn to append after a while.
    fn took_turn(&self, waited: Duration);
    /// A commit of another node has become visible here, so long after its own time.
    fn followed(&self, lag: Duration);
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoMeter;

impl Meter for NoMeter {
    fn appended(&self, _: usize, _: Duration) {}
    fn conflicted(&self) {}
    fn took_turn(&self, _: Duration) {}
    fn followed(&self, _: Duration) {}
}

/// The meter where none was given.
pub(crate) fn none() -> Arc<dyn Meter> {
    Arc::new(NoMeter)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "goes to the meter, never into a command")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
