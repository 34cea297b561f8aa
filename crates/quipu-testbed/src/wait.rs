//! Waiting for something to become true, bounded, without guessing how long it takes.

use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(10);

/// Repeats `ask` until it returns something; panics after about this many seconds.
pub fn wait_until<T>(seconds: u32, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..seconds * 100 {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::park_timeout(PAUSE);
    }
    panic!("waited in vain until {what}");
}
