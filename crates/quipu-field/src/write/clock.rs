//! The Field's logical clock (spec CLK-1 to CLK-6). Every accepted message ticks it. Ticks of writes
//! are in the log; ticks of reads are not, so reads may run ahead of the log only by a reserve, and
//! a Field that was not closed in order resumes beyond that reserve.
//!
//! ```text
//!   logged ............ now ............ logged + CLOCK_RESERVE
//!   last durable epoch  last given epoch where the clock resumes after a crash
//! ```
//!
//! Where other nodes append to the same log there is no reserve: one of them may give the next epoch to a
//! unit at any time. So every read is given the epoch behind the last one it sees, however often, and the
//! log orders all the rest.

use std::sync::{Mutex, PoisonError};

use quipu_log::Head;
use quipu_wire::limits::{EPOCH_JUMP_MAX, SAFE_INTEGER_MAX};

use crate::base::{error::EpochError, limits::CLOCK_RESERVE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadTick {
    /// This epoch; the flag says that the log should soon note how far reads have come.
    At(u64, bool),
    /// The message's epoch is beyond the reserve: the log must note it before the read is answered.
    LogFirst,
}

/// The clock, shared by the writer and all readers.
#[derive(Debug)]
pub struct LamportClock {
    times: Mutex<Times>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    now: u64,
    logged: u64,
    /// The first epoch of the batch that is being made durable: no reader has seen its commits yet.
    in_flight: Option<u64>,
    /// How far reads may run ahead of the log. Nothing, as long as the log ends with the note of an
    /// orderly close: that note says that nobody was given a later epoch.
    reserve: u64,
    /// Whether somebody was already asked to log how far reads have come.
    advance_asked: bool,
    /// Whether other nodes append to the log.
    shared: bool,
    /// The latest epoch that a read was given, where other nodes append.
    told: u64,
}

impl LamportClock {
    /// The clock after a log that ends at `logged`.
    #[must_use]
    pub fn resume(logged: u64, closed_in_order: bool) -> Self {
        let now = if closed_in_order || logged == 0 { logged } else { logged + CLOCK_RESERVE };
        let reserve = if closed_in_order { 0 } else { CLOCK_RESERVE };
        Self {
            times: Mutex::new(Times {
                now,
                logged,
                in_flight: None,
                reserve,
                advance_asked: false,
                shared: false,
                told: 0,
            }),
        }
    }

    /// The clock after a log that ends here.
    #[must_use]
    pub fn of(head: &Head, closed_in_order: bool, shared: bool) -> Self {
        if shared { Self::shared(head.epoch) } else { Self::resume(head.epoch, closed_in_order) }
    }

    /// The clock after a log that ends at `logged` and that other nodes append to.
    #[must_use]
    pub fn shared(logged: u64) -> Self {
        let clock = Self::resume(logged, true);
        clock.with(|times| times.shared = true);
        clock
    }

    fn with<T>(&self, act: impl FnOnce(&mut Times) -> T) -> T {
        act(&mut self.times.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[must_use]
    pub fn now(&self) -> u64 {
        self.with(|times| times.now.max(times.told))
    }

    /// Ticks for a commit: `max(now, received) + 1`.
    pub fn tick_for_write(&self, received: u64) -> Result<u64, EpochError> {
        self.with(|times| {
            let next = times.next(received)?;
            times.now = next;
            times.in_flight.get_or_insert(next);
            Ok(next)
        })
    }

    /// Moves to an epoch that a read brought, for the commit that notes it. The read itself
    /// ticks afterwards, so this is no tick of its own where the epoch is ahead.
    pub fn advance_for_write(&self, received: u64) -> Result<u64, EpochError> {
        self.with(|times| {
            let next = times.next(received)?.min(received.max(times.now + 1));
            times.now = next;
            times.in_flight.get_or_insert(next);
            Ok(next)
        })
    }

    /// Commits are durable and visible, up to this epoch: a batch of ours, or what others appended.
    pub fn published(&self, epoch: u64) {
        self.with(|times| {
            // A Field that was put away and opened again has the same clock, and somebody may still work for the old one.
            times.logged = times.logged.max(epoch);
            times.now = times.now.max(epoch);
            times.in_flight = None;
            times.reserve = CLOCK_RESERVE;
            times.advance_asked = false;
        });
    }

    /// Others appended up to this epoch, and it is not visible yet: the next commit comes behind it.
    pub fn observe(&self, epoch: u64) {
        self.with(|times| times.now = times.now.max(epoch));
    }

    /// The batch did not happen.
    pub fn abandoned(&self) {
        self.with(|times| {
            // Where others append nobody is told of what is in flight, and it may be decided often.
            if times.shared {
                times.now = times.logged;
            }
            times.in_flight = None;
            times.advance_asked = false;
        });
    }

    pub fn check(&self, received: u64) -> Result<(), EpochError> {
        self.with(|times| times.next(received).map(|_| ()))
    }

    /// Whether a read that brings this epoch can only be answered after the log has noted it.
    pub fn must_log_before_read(&self, received: u64) -> Result<bool, EpochError> {
        self.with(|times| {
            let next = times.next(received)?;
            if times.shared {
                return Ok(received > times.logged + 1);
            }
            let beyond_reserve = received >= times.now && next > times.logged + times.reserve;
            Ok(beyond_reserve || times.in_flight.is_some_and(|first| received >= first))
        })
    }

    /// Whether other nodes' commits cover this epoch, so that the log need not note it.
    pub fn is_logged_by_others(&self, received: u64) -> bool {
        self.with(|times| {
            times.shared && received <= times.logged + 1 && times.next(received).is_ok()
        })
    }

    /// Whether reads may run ahead of the log, so that its end should say how far they came.
    pub fn has_reserve(&self) -> bool {
        self.with(|times| !times.shared)
    }

    /// Ticks for a read whose view holds every published commit. The answer is an epoch that no unit
    /// in the view has, and that no unit outside of it is below: polling from it misses nothing and
    /// repeats nothing. Call it while the view is held.
    pub fn tick_for_read(&self, received: u64) -> Result<ReadTick, EpochError> {
        self.with(|times| {
            let next = times.next(received)?;
            if times.shared {
                let unseen = times.logged + 1;
                if received > unseen {
                    return Ok(ReadTick::LogFirst);
                }
                times.told = times.told.max(unseen);
                return Ok(ReadTick::At(unseen, false));
            }
            if let Some(first) = times.in_flight {
                // What is in flight is not in the view, so the answer must not be later than it.
                return Ok(if received < first {
                    ReadTick::At(first, false)
                } else {
                    ReadTick::LogFirst
                });
            }
            let last = times.logged + times.reserve;
            if next <= last {
                times.now = next;
                return Ok(ReadTick::At(next, times.ask_for_advance()));
            }
            // Untold to the log, but told before: safe to tell again, also while the log cannot be written.
            Ok(if received <= times.now {
                ReadTick::At(times.now, times.ask_for_advance())
            } else {
                ReadTick::LogFirst
            })
        })
    }
}

impl Times {
    /// Whether the log should note it now; asked for once per need.
    fn ask_for_advance(&mut self) -> bool {
        let due = self.now.saturating_sub(self.logged) >= self.reserve / 2 && !self.advance_asked;
        self.advance_asked |= due;
        due
    }

    fn next(&self, received: u64) -> Result<u64, EpochError> {
        if received > self.now.saturating_add(EPOCH_JUMP_MAX) {
            return Err(EpochError::TooFar { received, now: self.now });
        }
        let next = self.now.max(received) + 1;
        if next > SAFE_INTEGER_MAX { Err(EpochError::Exhausted) } else { Ok(next) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_ticks_to_one_past_the_later_of_both_clocks() {
        let clock = LamportClock::resume(0, false);
        assert_eq!(clock.tick_for_write(0), Ok(1));
        assert_eq!(clock.tick_for_write(1), Ok(2));
        assert_eq!(clock.tick_for_write(10), Ok(11));
        assert_eq!(clock.tick_for_write(0), Ok(12));
    }

    #[test]
    fn a_hostile_epoch_is_refused_and_moves_nothing() {
        let clock = LamportClock::resume(5, true);
        let received = 6 + EPOCH_JUMP_MAX;
        assert_eq!(clock.tick_for_write(received), Err(EpochError::TooFar { received, now: 5 }));
        assert_eq!(clock.now(), 5);
    }

    #[test]
    fn the_end_of_the_clock_is_an_overflow() {
        let clock = LamportClock::resume(SAFE_INTEGER_MAX, true);
        assert_eq!(clock.tick_for_write(0), Err(EpochError::Exhausted));
    }

    #[test]
    fn each_read_ticks_while_nothing_is_in_flight() {
        let clock = LamportClock::resume(6, true);
        clock.tick_for_write(0).unwrap();
        clock.published(7);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(8, false)));
        assert_eq!(clock.tick_for_read(20), Ok(ReadTick::At(21, false)));
        assert_eq!(clock.tick_for_write(0), Ok(22));
    }

    #[test]
    fn a_read_beside_a_batch_in_flight_is_told_the_first_epoch_it_cannot_see() {
        let clock = LamportClock::resume(6, true);
        clock.tick_for_write(0).unwrap();
        clock.published(7);
        clock.tick_for_write(0).unwrap();
        clock.tick_for_write(0).unwrap();
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(8, false)));
        assert_eq!(clock.tick_for_read(50), Ok(ReadTick::LogFirst));
        clock.published(9);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(10, false)));
    }

    #[test]
    fn after_an_orderly_close_no_read_ticks_before_the_log_is_told() {
        let clock = LamportClock::resume(9, true);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(9, true)));
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(9, false)), "asked for once");
        assert_eq!(clock.advance_for_write(0), Ok(10));
        clock.published(10);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(11, false)));
    }

    #[test]
    fn where_others_append_a_read_is_told_the_first_epoch_that_it_cannot_see() {
        let clock = LamportClock::shared(6);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(7, false)));
        assert_eq!(clock.tick_for_read(7), Ok(ReadTick::At(7, false)), "another node may give 7");
        assert_eq!(clock.tick_for_write(20), Ok(21));
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(7, false)), "21 may come to nothing");
        clock.abandoned();
        clock.published(9);
        assert_eq!(clock.tick_for_read(0), Ok(ReadTick::At(10, false)));
        assert_eq!(clock.tick_for_write(0), Ok(10));
        assert_eq!(clock.tick_for_read(11), Ok(ReadTick::LogFirst));
        assert_eq!(clock.must_log_before_read(10), Ok(false));
    }

    #[test]
    fn reads_never_run_further_ahead_than_the_reserve_from_which_a_crash_resumes() {
        let clock = LamportClock::resume(2, true);
        clock.tick_for_write(0).unwrap();
        clock.published(3);
        let mut told = 0;
        for _ in 0..2 * CLOCK_RESERVE {
            let ReadTick::At(epoch, _) = clock.tick_for_read(0).unwrap() else {
                unreachable!("nothing is in flight and no epoch was sent")
            };
            told = epoch;
        }
        let resumed = LamportClock::resume(3, false);
        assert!(resumed.tick_for_write(0).unwrap() > told);
    }
}
