//! The only place where xtask looks at a clock: how long a step took, and when a run was made.

use std::time::{Instant, SystemTime};

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
        format!("{:.1} s", self.seconds())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// The time in UTC as people and programs read it: `2026-01-02T03:04:05+00:00`.
#[expect(clippy::disallowed_methods, reason = "this is the clock file of xtask")]
pub(crate) fn now_utc() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    utc(since.map_or(0, |since| since.as_secs()))
}

fn utc(seconds: u64) -> String {
    let (mut year, mut day) = (1970, seconds / 86_400);
    while day >= days_of(year) {
        day -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}+00:00", day + 1)
}

fn days_of(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_told_as_a_date_also_around_leap_days() {
        for (seconds, said) in [
            (0, "1970-01-01T00:00:00+00:00"),
            (951_782_399, "2000-02-28T23:59:59+00:00"),
            (951_782_400, "2000-02-29T00:00:00+00:00"),
            (1_709_251_199, "2024-02-29T23:59:59+00:00"),
            (1_735_689_599, "2024-12-31T23:59:59+00:00"),
            (4_107_542_400, "2100-03-01T00:00:00+00:00"),
        ] {
            assert_eq!(utc(seconds), said);
        }
    }
}
