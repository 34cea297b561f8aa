//! Every bound of the suite: how long it waits and how much it reads.

use std::time::Duration;

/// How long one answer may take.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// How long a notification that must come may take, if the target does not say: a busy server may put detection off.
pub(crate) const PUSH_WAIT: Duration = Duration::from_secs(30);
/// How long a stream is watched for a notification that must not come.
pub(crate) const QUIET_WAIT: Duration = Duration::from_millis(600);
/// The largest answer that is read.
pub(crate) const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The longest line of a head or an event stream.
pub(crate) const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// The most header lines of an answer.
pub(crate) const HEADERS_MAX: usize = 256;
/// How much of a message a failure quotes.
pub(crate) const QUOTE_CHARS_MAX: usize = 1_200;
/// The `max_units` of an ATTUNE that must return everything.
pub(crate) const ALL_UNITS: u64 = 10_000;
/// The longest average token, in bytes, of any tokenizer for English sentences.
pub(crate) const TOKEN_BYTES_MAX: usize = 12;
/// How many events a case reads while it waits for a certain one.
pub(crate) const PUSH_EVENTS_MAX: usize = 2_000;
