//! The binary's view of passing time, for progress lines.

use std::time::Instant;

/// Now, on a clock that never goes back.
#[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads a clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
