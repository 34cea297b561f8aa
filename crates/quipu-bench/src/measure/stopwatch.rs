//! Measures durations and keeps them.

use std::time::{Duration, Instant};

/// Now, on a clock that never goes back.
#[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads a clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A running stopwatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Durations of the same thing, in order of happening.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    micros: Vec<f64>,
}

impl Samples {
    pub(crate) fn push(&mut self, duration: Duration) {
        self.micros.push(duration.as_secs_f64() * 1e6);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.micros.extend(other.micros);
    }

    pub(crate) fn len(&self) -> usize {
        self.micros.len()
    }

    /// The value below which this share of the samples lies, in microseconds.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into the samples"
        )]
        let at = ((sorted.len() as f64 - 1.0).max(0.0) * share).round() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}

/// How many a second.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn rate(count: usize, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(1e-9)
}
