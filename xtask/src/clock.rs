//! The only place where xtask looks at a clock: how long a step took.

use std::time::Instant;

/// Measures from its start until asked.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the clock file of xtask")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Elapsed time as people read it: `0.4 s`, `75.0 s`.
    pub(crate) fn elapsed(&self) -> String {
        format!("{:.1} s", self.0.elapsed().as_secs_f64())
    }
}
