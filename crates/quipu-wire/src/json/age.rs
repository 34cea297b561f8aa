//! How old something must be, as callers write it: a time in RFC 3339, or a duration in ISO 8601 without years and months,
//! whose length nobody can tell. Nothing here reads a clock.

use super::timestamp::parse_ms;

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;
const WEEK_MS: u64 = 7 * DAY_MS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// From before this time, in milliseconds since 1970.
    Before(u64),
    /// From longer ago than this, in milliseconds.
    LongerThan(u64),
}

impl Age {
    /// Reads `2026-03-01T10:30:00Z`, `P30D`, `PT12H` and the like.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('P') {
            Some(parts) => duration_ms(parts).map(Self::LongerThan),
            None => parse_ms(text).map(Self::Before),
        }
    }

    /// The time that divides old from young, if it is that now.
    #[must_use]
    pub const fn before_ms(self, now_ms: u64) -> u64 {
        match self {
            Self::Before(time_ms) => time_ms,
            Self::LongerThan(duration_ms) => now_ms.saturating_sub(duration_ms),
        }
    }
}

/// The length of what stands behind the `P`.
fn duration_ms(text: &str) -> Option<u64> {
    let (days, time) = match text.split_once('T') {
        Some((days, time)) if !time.is_empty() => (days, time),
        Some(_) => return None,
        None if text.is_empty() => return None,
        None => (text, ""),
    };
    let days = sum(days, &[('W', WEEK_MS), ('D', DAY_MS)])?;
    let time = sum(time, &[('H', HOUR_MS), ('M', MINUTE_MS), ('S', SECOND_MS)])?;
    days.checked_add(time)
}

/// Adds numbers with units up, each unit at most once and in this order.
fn sum(mut text: &str, units: &[(char, u64)]) -> Option<u64> {
    let mut total = 0_u64;
    for (unit, length_ms) in units {
        let Some((number, rest)) = text.split_once(*unit) else { continue };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let part = number.parse::<u64>().ok()?.checked_mul(*length_ms)?;
        total = total.checked_add(part)?;
        text = rest;
    }
    text.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_long_as_they_say() {
        let long = |text| match Age::parse(text) {
            Some(Age::LongerThan(ms)) => Some(ms),
            Some(Age::Before(_)) | None => None,
        };
        assert_eq!(long("P30D"), Some(30 * DAY_MS));
        assert_eq!(long("P1W2DT3H4M5S"), Some(WEEK_MS + 2 * DAY_MS + 3 * HOUR_MS + 245_000));
        assert_eq!(long("PT0S"), Some(0));
        for wrong in
            ["P", "PT", "P1", "P1Y", "P1M", "P-1D", "P1.5D", "PT1D", "P1H", "P1D1W", "P+1D"]
        {
            assert_eq!(Age::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Age::parse("P99999999999999999999D"), None);
    }

    #[test]
    fn a_time_divides_where_it_says_and_a_duration_before_now() {
        let time = Age::parse("1970-01-01T00:00:01Z").unwrap();
        assert_eq!(time.before_ms(50), 1000);
        assert_eq!(Age::parse("PT1S").unwrap().before_ms(1500), 500);
        assert_eq!(Age::parse("P9999D").unwrap().before_ms(1500), 0);
    }
}
