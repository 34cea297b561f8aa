//! Sending the same message again: how often, after which pauses, and after which failures. It is safe
//! because every write carries an id under which the Field carries it out once.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{error::ClientError, ids};

/// How a call is tried again after a lost connection, or where the server asks to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often it is sent at most; 1 never sends again.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// No further attempt is begun after this time.
    pub within: Duration,
}

impl Retry {
    /// Sends once.
    pub const NEVER: Self = Self {
        attempts: 1,
        first_pause: Duration::ZERO,
        longest_pause: Duration::ZERO,
        within: Duration::ZERO,
    };
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            within: Duration::from_secs(60),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Attempts {
    retry: Retry,
    /// Whether somebody may restart the other side.
    remote: bool,
    made: u32,
    began: Instant,
}

impl Attempts {
    pub(crate) fn new(retry: Retry, remote: bool) -> Self {
        Self { retry, remote, made: 1, began: Instant::now() }
    }

    /// Forgets what failed, because something worked since.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self::new(self.retry, self.remote);
    }

    /// Waits until the next attempt may begin, or gives the error back where there is to be none.
    pub(crate) async fn pause_after(&mut self, error: ClientError) -> Result<(), ClientError> {
        let Some(asked) = self.requested_pause(&error) else { return Err(error) };
        if self.made >= self.retry.attempts || self.began.elapsed() >= self.retry.within {
            return Err(error);
        }
        sleep(asked.max(self.pause(ids::share()))).await;
        self.made += 1;
        Ok(())
    }

    /// The least pause, or none where trying again cannot help.
    fn requested_pause(&self, error: &ClientError) -> Option<Duration> {
        match error {
            ClientError::Connect { .. } | ClientError::Exchange { .. } => Some(Duration::ZERO),
            ClientError::Refused(refusal) if matches!(refusal.status, 429 | 503) => {
                // A Field that is closed inside this process stays closed.
                refusal.retry_after.or_else(|| self.remote.then_some(Duration::ZERO))
            }
            ClientError::Refused(_)
            | ClientError::Url { .. }
            | ClientError::NoRoots { .. }
            | ClientError::Roots(_)
            | ClientError::Header { .. }
            | ClientError::Payload(_)
            | ClientError::Unexpected { .. }
            | ClientError::InUse { .. }
            | ClientError::Open { .. } => None,
        }
    }

    /// Twice as long each time, and between a half and all of it, so that many clients do not come
    /// back at once.
    fn pause(&self, share: f64) -> Duration {
        let doubled =
            self.retry.first_pause.saturating_mul(1 << self.made.saturating_sub(1).min(20));
        doubled.min(self.retry.longest_pause).mul_f64(0.5 + share / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lost() -> ClientError {
        ClientError::broken("http://nowhere", "cut")
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_connection_is_tried_again_until_the_attempts_are_used_up() {
        let retry = Retry { attempts: 4, ..Retry::default() };
        let mut attempts = Attempts::new(retry, true);
        for _ in 0..3 {
            attempts.pause_after(lost()).await.unwrap();
        }
        attempts.pause_after(lost()).await.unwrap_err();
        attempts.begin_anew();
        attempts.pause_after(lost()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_time_is_over() {
        let retry = Retry { attempts: 1000, within: Duration::from_secs(20), ..Retry::default() };
        let mut attempts = Attempts::new(retry, true);
        let began = Instant::now();
        while attempts.pause_after(lost()).await.is_ok() {}
        assert!(began.elapsed() <= Duration::from_secs(26), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_none_is_not_asked_for_again() {
        let mut attempts = Attempts::new(Retry::default(), true);
        let error = ClientError::unexpected(hyper::StatusCode::OK, "no JSON", b"<html>");
        assert!(attempts.pause_after(error).await.is_err());
    }

    proptest! {
        #[test]
        fn a_pause_is_within_its_bounds(made in 1u32..40, share in 0.0f64..=1.0) {
            let retry = Retry::default();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let attempts = Attempts { made, ..runtime.block_on(async { Attempts::new(retry, true) }) };
            let pause = attempts.pause(share);
            prop_assert!(pause <= retry.longest_pause && pause >= retry.first_pause / 2);
        }
    }
}
