//! How much one key may ask for: a bucket for each key that fills at a steady rate and holds a few seconds' worth.
//! Whoever empties it is told to wait; others do not notice. Knows no route.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use quipu_wire::{ErrorCode, ProtocolError};

use crate::{clock::Stopwatch, limits::BURST};

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct Throttle {
    per_second: NonZeroU32,
    since: Stopwatch,
    /// When the bucket of each key is full again, in nanoseconds since the start. There are as many as there are
    /// keys, because only a key that holds is asked for.
    full_at_ns: Mutex<HashMap<String, u64>>,
}

impl Throttle {
    pub(crate) fn new(per_second: NonZeroU32) -> Self {
        Self { per_second, since: Stopwatch::start(), full_at_ns: Mutex::default() }
    }

    /// Takes one request out of a key's bucket.
    pub(crate) fn spend(&self, key_id: &str) -> Result<(), ProtocolError> {
        if self.spend_at(key_id, nanos(self.since.elapsed())) {
            return Ok(());
        }
        let message = format!(
            "the key {key_id} sends more than {} requests a second for too long",
            self.per_second
        );
        Err(ProtocolError::new(ErrorCode::RateLimited, message))
    }

    fn spend_at(&self, key_id: &str, now_ns: u64) -> bool {
        let cost_ns = SECOND_NS / u64::from(self.per_second.get());
        let mut buckets = self.full_at_ns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full_at_ns) = buckets.get_mut(key_id) {
            let after = now_ns.max(*full_at_ns) + cost_ns;
            let has_room = after - now_ns <= nanos(BURST);
            if has_room {
                *full_at_ns = after;
            }
            return has_room;
        }
        buckets.insert(key_id.to_owned(), now_ns + cost_ns);
        true
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn throttle(per_second: u32) -> Throttle {
        Throttle::new(NonZeroU32::new(per_second).unwrap())
    }

    /// How many of so many requests at one moment are let through.
    fn passed(throttle: &Throttle, key: &str, requests: u32, now_ns: u64) -> u32 {
        (0..requests).map(|_| u32::from(throttle.spend_at(key, now_ns))).sum()
    }

    #[test]
    fn a_burst_passes_then_the_rate_holds_and_other_keys_do_not_notice() {
        let throttle = throttle(10);
        let burst = u32::try_from(BURST.as_secs()).unwrap() * 10;
        assert_eq!(passed(&throttle, "a", 1000, 0), burst);
        assert_eq!(passed(&throttle, "a", 1000, SECOND_NS), 10);
        assert_eq!(passed(&throttle, "b", 5, SECOND_NS), 5);
        assert_eq!(passed(&throttle, "a", 1000, 1000 * SECOND_NS), burst, "full again");
    }

    #[test]
    fn who_is_refused_is_told_the_rate_and_that_it_can_go_on() {
        let throttle = throttle(1);
        passed(&throttle, "a", 100, 0);
        let refused = throttle.spend("a").unwrap_err();
        assert_eq!((refused.code, refused.recoverable), (ErrorCode::RateLimited, true));
        assert!(refused.message.contains("a sends more than 1 requests"), "{}", refused.message);
    }

    proptest! {
        #[test]
        fn no_key_ever_gets_more_than_its_burst_and_its_rate(
            per_second in 1_u32..5000,
            steps in prop::collection::vec((0_u64..2 * SECOND_NS, 1_u32..300), 1..40),
        ) {
            let throttle = throttle(per_second);
            let (mut now_ns, mut let_through) = (0, 0_u64);
            for (pause_ns, requests) in steps {
                now_ns += pause_ns;
                let_through += u64::from(passed(&throttle, "k", requests, now_ns));
                let cost_ns = SECOND_NS / u64::from(per_second);
                prop_assert!(let_through * cost_ns <= now_ns + nanos(BURST));
            }
        }
    }
}
