//! The one clock of a run. All instants of a history are read from it, so that "returned before" means something.

use std::time::{Duration, Instant};

/// Microseconds since the run began.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(now())
    }

    /// Microseconds since it began.
    #[must_use]
    pub fn micros(&self) -> u64 {
        u64::try_from(now().duration_since(self.0).as_micros()).unwrap_or(u64::MAX)
    }

    /// Whether so much time has passed since it began.
    #[must_use]
    pub fn is_past(&self, span: Duration) -> bool {
        now().duration_since(self.0) >= span
    }

    /// Waits until so much time has passed since it began.
    pub fn wait_until(&self, span: Duration) {
        while let Some(left) = span.checked_sub(now().duration_since(self.0)) {
            if left.is_zero() {
                return;
            }
            std::thread::park_timeout(left);
        }
    }
}

/// Waits a moment.
pub(crate) fn pause(span: Duration) {
    Clock::start().wait_until(span);
}

#[expect(clippy::disallowed_methods, reason = "this file is where time is observed")]
fn now() -> Instant {
    Instant::now()
}
