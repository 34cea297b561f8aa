//! The one file that reads a clock: deadlines for waiting. It has nothing to do with epochs.

use std::time::{Duration, Instant};

/// The time after which a wait is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The deadline `wait` from now.
    pub(crate) fn after(wait: Duration) -> Self {
        Self(now() + wait)
    }

    /// The remaining time; `None` once the deadline has passed.
    pub(crate) fn left(self) -> Option<Duration> {
        self.0.checked_duration_since(now()).filter(|left| !left.is_zero())
    }
}

#[expect(clippy::disallowed_methods, reason = "this file is where time is observed")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_of_no_time_has_passed_and_one_of_an_hour_has_not() {
        assert_eq!(Deadline::after(Duration::ZERO).left(), None);
        assert!(Deadline::after(Duration::from_secs(3600)).left().is_some());
    }
}
