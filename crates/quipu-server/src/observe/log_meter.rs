//! What is counted of the log and of how a node keeps up with it, under which names. For the whole node: a server of
//! thousands of Fields would drown in histograms of each.

use std::time::Duration;

use metrics::{counter, describe_counter, describe_histogram, histogram};
use quipu_field::Meter;

use crate::observe::metrics::SECONDS_BUCKETS;

const APPEND_SECONDS: &str = "quipu_log_append_seconds";
const BATCH: &str = "quipu_log_batch_commits";
const CONFLICTS: &str = "quipu_log_conflicts_total";
const TURN_SECONDS: &str = "quipu_log_turn_seconds";
const LAG_SECONDS: &str = "quipu_log_lag_seconds";

const BATCH_BUCKETS: [f64; 11] =
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// Where the samples of each histogram are counted.
pub(crate) const BUCKETS: [(&str, &[f64]); 4] = [
    (APPEND_SECONDS, &SECONDS_BUCKETS),
    (BATCH, &BATCH_BUCKETS),
    (TURN_SECONDS, &SECONDS_BUCKETS),
    (LAG_SECONDS, &SECONDS_BUCKETS),
];

/// Says what each name means.
pub(crate) fn describe() {
    describe_histogram!(APPEND_SECONDS, "time to append a batch and sync it");
    describe_histogram!(BATCH, "commits that one append and one sync covered");
    describe_counter!(CONFLICTS, "batches decided again because another node was faster");
    describe_histogram!(TURN_SECONDS, "time that a batch waited for this node's turn to append");
    describe_histogram!(
        LAG_SECONDS,
        "from the time of another node's commit until it is known here"
    );
}

/// Counts what the Fields of this process tell of their logs.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogMeter;

impl Meter for LogMeter {
    #[expect(clippy::cast_precision_loss, reason = "a batch has a thousand commits at most")]
    fn appended(&self, commits: usize, took: Duration) {
        histogram!(APPEND_SECONDS).record(took.as_secs_f64());
        histogram!(BATCH).record(commits as f64);
    }

    fn conflicted(&self) {
        counter!(CONFLICTS).increment(1);
    }

    fn took_turn(&self, waited: Duration) {
        histogram!(TURN_SECONDS).record(waited.as_secs_f64());
    }

    fn followed(&self, lag: Duration) {
        histogram!(LAG_SECONDS).record(lag.as_secs_f64());
    }
}
