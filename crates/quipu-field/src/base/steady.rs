//! The time of a Field: it never stands still and never leaps, whatever somebody does to the wall clock.
//!
//! It starts at the wall clock, or at the last commit if that is later, and from then on runs as the time runs that passed
//! in this process. Where the wall clock says something else, it goes there slowly: at most a tenth of a second in a second.
//! So what is measured by it, such as leases, takes about as long as it should; and timestamps are right
//! again in the end.
//!
//! ```text
//!   wall clock   10:00 10:01 | 22:02 22:03 | 10:04 10:05      somebody set it wrong, and right again
//!   this time    10:00 10:01 | 10:02 10:03 | 10:04 10:05
//! ```

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quipu_core::Origin;
use quipu_log::Salt;

/// How far the wall clock must leap to be told. It is set right by less than this all the time.
const JUMP_MIN: Duration = Duration::from_secs(2);
/// By what part of the time that passed it may go faster or slower.
const LEEWAY: u64 = 10;

/// How the wall clock leapt while this process ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockJumps {
    pub count: u64,
    pub last: Option<ClockJump>,
    /// How many milliseconds the Fields' time is ahead of the wall clock; behind it where this is negative.
    pub ahead_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockJump {
    /// How many milliseconds it leapt; backwards where this is negative.
    pub by_ms: i64,
    /// When it was noticed, by the Fields' time, in milliseconds since 1970.
    pub noticed_ms: u64,
}

/// An origin with steady time in place of the wall clock.
#[derive(Debug)]
pub(crate) struct Steady {
    origin: Arc<dyn Origin>,
    line: Mutex<Line>,
}

/// All times in nanoseconds: the elapsed one since some moment, the others since 1970.
#[derive(Debug, Default)]
struct Line {
    now: u64,
    elapsed: u64,
    wall: u64,
    jumps: ClockJumps,
}

impl Steady {
    /// Steady time that starts not before a time in milliseconds since 1970.
    #[must_use]
    pub(crate) fn new(origin: Arc<dyn Origin>, not_before_ms: u64) -> Self {
        let elapsed = origin.elapsed().map_or(0, nanos);
        let wall = if origin.elapsed().is_some() { of_ms(origin.now_ms()) } else { 0 };
        let now = wall.max(of_ms(not_before_ms));
        let line = Line { now, elapsed, wall, jumps: ClockJumps::default() };
        Self { origin, line: Mutex::new(line) }
    }

    #[must_use]
    pub(crate) fn jumps(&self) -> ClockJumps {
        let now_ms = self.now_ms();
        let wall_ms = self.origin.now_ms();
        let ahead_ms = difference(now_ms, wall_ms);
        self.with(|line| ClockJumps { ahead_ms, ..line.jumps })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Line) -> T) -> T {
        act(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Origin for Steady {
    fn now_ms(&self) -> u64 {
        if self.origin.elapsed().is_none() {
            return self.origin.now_ms();
        }
        self.with(|line| {
            // Read while the line is held, so that what was read later is also looked at later.
            let (wall, elapsed) = (of_ms(self.origin.now_ms()), self.origin.elapsed());
            let mut elapsed = elapsed.map_or(line.elapsed, nanos);
            if line.leap(wall, elapsed).unsigned_abs() >= nanos(JUMP_MIN) {
                self.origin.notice_sleep();
                elapsed = self.origin.elapsed().map_or(elapsed, nanos);
            }
            line.go_on(wall, elapsed);
            line.now / 1_000_000
        })
    }

    fn elapsed(&self) -> Option<Duration> {
        self.origin.elapsed()
    }

    fn notice_sleep(&self) {
        self.origin.notice_sleep();
    }

    fn not_before(&self, time_ms: u64) {
        self.with(|line| line.now = line.now.max(of_ms(time_ms)));
    }

    fn id_bits(&self) -> u128 {
        self.origin.id_bits()
    }

    fn salt(&self) -> Salt {
        self.origin.salt()
    }
}

impl Line {
    /// How far the wall clock went beyond the time that passed.
    fn leap(&self, wall: u64, elapsed: u64) -> i64 {
        difference(wall, self.wall.saturating_add(elapsed.saturating_sub(self.elapsed)))
    }

    fn go_on(&mut self, wall: u64, elapsed: u64) {
        let leap = self.leap(wall, elapsed);
        let passed = elapsed.saturating_sub(self.elapsed);
        let (expected, leeway) = (self.now.saturating_add(passed), passed / LEEWAY);
        self.now = wall.clamp(expected - leeway, expected.saturating_add(leeway));
        self.elapsed = self.elapsed.max(elapsed);
        self.wall = wall;
        if leap.unsigned_abs() >= nanos(JUMP_MIN) {
            let by_ms = leap / 1_000_000;
            self.jumps.count += 1;
            self.jumps.last = Some(ClockJump { by_ms, noticed_ms: self.now / 1_000_000 });
            tracing::warn!(
                by_ms,
                "the wall clock of this machine leapt; Fields go on in their own time, and follow it slowly"
            );
        }
    }
}

fn of_ms(ms: u64) -> u64 {
    ms.saturating_mul(1_000_000)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn difference(a: u64, b: u64) -> i64 {
    let size = i64::try_from(a.abs_diff(b)).unwrap_or(i64::MAX);
    if a < b { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;
    const DAY: u64 = 86_400 * S;

    fn line(now: u64) -> Line {
        Line { now, elapsed: 0, wall: now, jumps: ClockJumps::default() }
    }

    #[test]
    fn a_wall_clock_that_was_a_day_ahead_for_a_minute_leaves_no_trace_but_a_few_seconds() {
        let mut line = line(DAY);
        line.go_on(DAY + S, S);
        assert_eq!((line.now, line.jumps.count), (DAY + S, 0));
        line.go_on(2 * DAY + 2 * S, 2 * S);
        line.go_on(2 * DAY + 62 * S, 62 * S);
        let ahead = line.now - (DAY + 62 * S);
        assert!(ahead <= 62 * S / LEEWAY, "{ahead}");
        line.go_on(DAY + 63 * S, 63 * S);
        line.go_on(DAY + 200 * S, 200 * S);
        assert_eq!(line.now, DAY + 200 * S, "right again");
        assert_eq!(line.jumps.count, 2);
        assert_eq!(line.jumps.last.unwrap().by_ms, -86_400_000);
    }

    #[test]
    fn behind_a_commit_from_tomorrow_time_goes_on_from_there_and_comes_back_slowly() {
        let mut line = Line { now: 2 * DAY, elapsed: 0, wall: DAY, jumps: ClockJumps::default() };
        line.go_on(DAY + 10 * S, 10 * S);
        assert_eq!(line.now, 2 * DAY + 9 * S);
        assert_eq!(line.jumps.count, 0, "nobody touched the wall clock meanwhile");
    }

    proptest! {
        #[test]
        fn whatever_the_wall_clock_does_time_passes_at_about_its_pace(
            steps in prop::collection::vec((0_u64..4 * DAY, 0_u64..100 * S), 1..60),
        ) {
            let mut line = line(DAY);
            let (mut elapsed, mut before) = (0, line.now);
            for (wall, passed) in steps {
                elapsed += passed;
                line.go_on(wall, elapsed);
                let went = line.now - before;
                prop_assert!(went >= passed - passed / LEEWAY && went <= passed + passed / LEEWAY);
                before = line.now;
            }
        }
    }
}
