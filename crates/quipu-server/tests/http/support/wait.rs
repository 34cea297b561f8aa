//! Waiting for what a server does by itself: bounded, and in words where it does not come.

use std::{thread, time::Duration};

const PAUSE: Duration = Duration::from_millis(10);
/// A minute of pauses, and of whatever asking takes: more than the slowest machine needs.
const TRIES: usize = 6000;

/// Asks again and again until there is an answer.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..TRIES {
        if let Some(answer) = ask() {
            return answer;
        }
        thread::park_timeout(PAUSE);
    }
    panic!("waited in vain until {what}");
}

/// Asks again and again until it is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(what, || is_so().then_some(()));
}
