//! A circuit breaker: after several failures in a row, an endpoint is not called for a while. Then one call is
//! allowed; if it fails too, the pause doubles. The caller passes the time in.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::limits::{BREAKER_FAILURES, BREAKER_PAUSE, BREAKER_PAUSE_MAX};

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default, Clone, Copy)]
struct State {
    failures: u32,
    closed_until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may be made now. After a pause only the first caller is allowed, until it reports its result or
    /// another pause has passed.
    pub(super) fn admit(&self, now: Instant) -> bool {
        let mut state = self.lock();
        match state.closed_until {
            Some(until) if now < until => false,
            Some(_) => {
                state.closed_until = Some(now + pause(state.failures));
                true
            }
            None => true,
        }
    }

    pub(super) fn succeeded(&self) {
        *self.lock() = State::default();
    }

    /// Reports a failed call. `asked` is the pause that the endpoint itself requested.
    pub(super) fn failed(&self, now: Instant, asked: Option<Duration>) {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        let own = (state.failures >= BREAKER_FAILURES).then(|| pause(state.failures));
        let asked = asked.map(|asked| asked.min(BREAKER_PAUSE_MAX));
        state.closed_until = own.max(asked).map(|pause| now + pause);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(BREAKER_FAILURES).min(16);
    BREAKER_PAUSE.saturating_mul(1 << doublings).min(BREAKER_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn opens_after_some_failures_and_lets_one_call_through_after_the_pause() {
        let (breaker, now) = (Breaker::default(), clock::now());
        for _ in 0..BREAKER_FAILURES {
            assert!(breaker.admit(now));
            breaker.failed(now, None);
        }
        assert!(!breaker.admit(now));
        let later = now + BREAKER_PAUSE;
        assert!(breaker.admit(later));
        assert!(!breaker.admit(later), "only one is let through");
        breaker.failed(later, None);
        assert!(!breaker.admit(later + BREAKER_PAUSE), "the pause doubled");
        let later = later + BREAKER_PAUSE * 2;
        assert!(breaker.admit(later));
        breaker.succeeded();
        assert!(breaker.admit(later) && breaker.admit(later));
    }

    #[test]
    fn waits_as_long_as_it_is_asked_to_but_not_for_ever() {
        let (breaker, now) = (Breaker::default(), clock::now());
        breaker.failed(now, Some(Duration::from_secs(7)));
        assert!(!breaker.admit(now + Duration::from_secs(7) - MOMENT));
        assert!(breaker.admit(now + Duration::from_secs(7)));
        breaker.failed(now, Some(Duration::MAX));
        assert!(breaker.admit(now + BREAKER_PAUSE_MAX));
    }

    #[test]
    fn the_pause_never_grows_beyond_its_bound() {
        let (breaker, now) = (Breaker::default(), clock::now());
        for _ in 0..100 {
            breaker.failed(now, None);
        }
        assert!(breaker.admit(now + BREAKER_PAUSE_MAX));
    }
}
