//! How far the messages of one key may push the clocks of Fields ahead. A message may claim an epoch that its Field has not
//! reached, and the protocol moves the clock there; what one message may claim, the Field bounds, and what all
//! messages of a key may claim in a time, this does. Without it a reader could make every unit look old.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use quipu_wire::{ErrorCode, ProtocolError, limits::EPOCH_LEAD_MAX};

use crate::clock::Stopwatch;

/// How many seconds it takes until a key may claim one more epoch.
const REFILL_SECONDS: u64 = 1;

/// What all keys have claimed.
#[derive(Debug)]
pub(crate) struct Leads {
    since: Stopwatch,
    /// When each key may claim as much as possible again, in seconds since the start.
    full_at: Mutex<HashMap<String, u64>>,
}

impl Leads {
    pub(crate) fn new() -> Self {
        Self { since: Stopwatch::start(), full_at: Mutex::default() }
    }

    /// Notes that a message of a key is this far ahead of its Field.
    pub(crate) fn claim(&self, key_id: &str, lead: u64) -> Result<(), ProtocolError> {
        let Err(wait_s) = self.claim_at(key_id, lead, self.since.elapsed().as_secs()) else {
            return Ok(());
        };
        let message = format!(
            "epoch: the key {key_id} has pushed the clock ahead by {EPOCH_LEAD_MAX} epochs, and may do so by {lead} more \
             in {wait_s} s; send an epoch that the Field has told, or none"
        );
        Err(ProtocolError::new(ErrorCode::RateLimited, message))
    }

    /// Answers how many seconds are missing, where it is too much.
    fn claim_at(&self, key_id: &str, lead: u64, now: u64) -> Result<(), u64> {
        if lead == 0 {
            return Ok(());
        }
        let mut keys = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, full_at| *full_at > now);
        let before = keys.get(key_id).copied().unwrap_or(now);
        let after = before.saturating_add(lead.saturating_mul(REFILL_SECONDS));
        let most = now + EPOCH_LEAD_MAX * REFILL_SECONDS;
        if after > most {
            return Err(after - most);
        }
        keys.insert(key_id.to_owned(), after);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_claimed_all_it_may_gets_one_epoch_a_second_and_others_do_not_notice() {
        let leads = Leads::new();
        for _ in 0..4 {
            assert_eq!(leads.claim_at("a", EPOCH_LEAD_MAX / 4, 10), Ok(()));
        }
        assert_eq!(leads.claim_at("a", 1, 10), Err(1));
        assert_eq!(leads.claim_at("a", 0, 10), Ok(()), "who claims nothing goes on");
        assert_eq!(leads.claim_at("b", EPOCH_LEAD_MAX, 10), Ok(()));
        assert_eq!(leads.claim_at("a", 5, 15), Ok(()));
        assert_eq!(leads.claim_at("a", 100, 15), Err(100));
        assert_eq!(leads.claim_at("a", EPOCH_LEAD_MAX, 15 + EPOCH_LEAD_MAX), Ok(()));
    }

    #[test]
    fn who_has_claimed_too_much_is_told_when_and_what_to_do() {
        let leads = Leads::new();
        leads.claim("k", EPOCH_LEAD_MAX).unwrap();
        let refused = leads.claim("k", 7).unwrap_err();
        assert_eq!((refused.code, refused.recoverable), (ErrorCode::RateLimited, true));
        assert!(refused.message.contains("the key k") && refused.message.contains("or none"));
    }
}
