//! Wall-clock times as the protocols write them: RFC 3339 in UTC with milliseconds. Nothing here
//! reads a clock; times come in as milliseconds since 1970.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Writes milliseconds since 1970 as RFC 3339 in UTC, such as `2026-03-01T10:30:00.250Z`.
///
/// Times that the calendar cannot hold are written as the last moment that it can.
#[must_use]
pub fn rfc3339(time_ms: u64) -> String {
    const LAST_MS: u64 = 253_402_300_799_999;
    let nanos = i128::from(time_ms.min(LAST_MS)) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_else(|| "9999-12-31T23:59:59.999Z".to_owned())
}

/// Reads a time as RFC 3339 has it, in any zone, as milliseconds since 1970; nothing if it is none or before.
#[must_use]
pub fn parse_ms(text: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::{parse_ms, rfc3339};

    #[test]
    fn reads_what_it_writes_and_other_zones() {
        assert_eq!(parse_ms(&rfc3339(1_772_361_000_250)), Some(1_772_361_000_250));
        assert_eq!(parse_ms("2026-03-01T12:30:00.25+02:00"), Some(1_772_361_000_250));
        assert_eq!(parse_ms("yesterday"), None);
    }

    #[test]
    fn writes_milliseconds_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_772_361_000_250), "2026-03-01T10:30:00.25Z");
    }

    #[test]
    fn writes_the_last_moment_for_times_beyond_the_calendar() {
        assert_eq!(rfc3339(u64::MAX), "9999-12-31T23:59:59.999Z");
    }
}
