//! The clock of a run. All times in a history are read from this one clock, so that they can be compared.

use std::time::{Duration, Instant};

/// A clock that counts microseconds since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Starts a clock.
    #[must_use]
    pub fn start() -> Self {
        Self(now())
    }

    /// How many microseconds have passed since the clock was started.
    #[must_use]
    pub fn micros(&self) -> u64 {
        u64::try_from(now().duration_since(self.0).as_micros()).unwrap_or(u64::MAX)
    }

    /// Whether this much time has passed since the clock was started.
    #[must_use]
    pub fn is_past(&self, span: Duration) -> bool {
        now().duration_since(self.0) >= span
    }

    /// Waits until this much time has passed since the clock was started.
    pub fn wait_until(&self, span: Duration) {
        while let Some(left) = span.checked_sub(now().duration_since(self.0)) {
            if left.is_zero() {
                return;
            }
            std::thread::park_timeout(left);
        }
    }
}

/// Sleeps for this long.
pub(crate) fn pause(span: Duration) {
    Clock::start().wait_until(span);
}

#[expect(clippy::disallowed_methods, reason = "this file is where time is observed")]
fn now() -> Instant {
    Instant::now()
}
