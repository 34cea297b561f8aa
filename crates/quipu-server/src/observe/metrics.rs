//! What is counted, under which names. The names are part of the contract with whoever watches.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::http::StatusCode;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::MetricKindMask;
use quipu_field::{Field, Fields};
use quipu_wire::akashik::Operation;

use crate::observe::log_meter;

const REQUESTS: &str = "quipu_http_requests_total";
const REQUEST_SECONDS: &str = "quipu_http_request_seconds";
const OPERATIONS: &str = "quipu_operations_total";
const COMMITS: &str = "quipu_field_commits";
const UNITS: &str = "quipu_field_units";
const READY: &str = "quipu_field_ready";
const VECTORS: &str = "quipu_field_vectors";
const VECTORS_WANTED: &str = "quipu_field_vectors_wanted";
const EMBEDDER_UP: &str = "quipu_field_embedder_up";
const ANNOUNCED_HEAD: &str = "quipu_field_head";
const STREAMS: &str = "quipu_push_streams";
const FIELDS_OPEN: &str = "quipu_fields_open";
const FIELDS_AWAY: &str = "quipu_fields_away";
const DEPOT_STORED: &str = "quipu_snapshots_stored_total";
const DEPOT_FETCHED: &str = "quipu_snapshots_fetched_total";
const DEPOT_FAILURES: &str = "quipu_snapshot_storage_failures_total";
const DEPOT_UP: &str = "quipu_snapshot_storage_up";
const UPTIME: &str = "quipu_uptime_seconds";

/// How long a gauge is told after nobody has set it. Whoever reads the counts sets those of the open Fields first, so this
/// is how soon a Field that was put away is told no more; it is longer than two readers at once need.
const GAUGES_KEPT: Duration = Duration::from_secs(5);

/// From a fast write to a request that nobody waits for.
pub(crate) const SECONDS_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Where the counts are kept and read.
#[derive(Clone)]
pub struct MetricsHandle(PrometheusHandle);

impl std::fmt::Debug for MetricsHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MetricsHandle").finish_non_exhaustive()
    }
}

impl MetricsHandle {
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Sums up the samples that came in, so that they take no more and more memory.
    pub(crate) fn sum_up(&self) {
        self.0.run_upkeep();
    }
}

/// Starts to count, for the whole process. Calling it again gives the same handle.
pub fn install_metrics() -> MetricsHandle {
    static INSTALLED: OnceLock<MetricsHandle> = OnceLock::new();
    INSTALLED.get_or_init(install).clone()
}

fn install() -> MetricsHandle {
    let buckets = [(REQUEST_SECONDS, &SECONDS_BUCKETS[..])].into_iter().chain(log_meter::BUCKETS);
    let recorder = buckets
        .fold(PrometheusBuilder::new(), |builder, (name, buckets)| {
            let named = Matcher::Full(name.to_owned());
            builder.set_buckets_for_metric(named, buckets).expect("there are buckets")
        })
        .idle_timeout(MetricKindMask::GAUGE, Some(GAUGES_KEPT))
        .build_recorder();
    let handle = MetricsHandle(recorder.handle());
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!(
            "this process has another recorder of metrics already: /metrics stays empty"
        );
    }
    describe_counter!(REQUESTS, "HTTP requests by route and status");
    describe_histogram!(REQUEST_SECONDS, "time to answer an HTTP request, by route");
    describe_counter!(OPERATIONS, "protocol operations by code; OK where there is none");
    describe_gauge!(COMMITS, "commits in the log of an open Field");
    describe_gauge!(UNITS, "memory units of an open Field");
    describe_gauge!(
        ANNOUNCED_HEAD,
        "commits in the log of an open Field, as far as this node has heard"
    );
    describe_gauge!(READY, "1 where an open Field takes writes, else 0");
    describe_gauge!(VECTORS, "units that have a vector of the configured embedding model");
    describe_gauge!(VECTORS_WANTED, "units that should have one");
    describe_gauge!(EMBEDDER_UP, "1 where the last attempt to embed worked, else 0");
    describe_gauge!(STREAMS, "open streams of pushes");
    describe_gauge!(FIELDS_OPEN, "Fields that are open");
    describe_gauge!(FIELDS_AWAY, "Fields that were put away because nobody used them");
    describe_counter!(DEPOT_STORED, "snapshots that were left for other nodes");
    describe_counter!(DEPOT_FETCHED, "snapshots of other nodes that a Field began with");
    describe_counter!(DEPOT_FAILURES, "attempts that the storage of snapshots failed");
    describe_gauge!(
        DEPOT_UP,
        "1 where the last attempt with the storage of snapshots worked, else 0"
    );
    describe_gauge!(UPTIME, "seconds since the server started");
    log_meter::describe();
    handle
}

/// Counts a request that was answered: under its route, and under its operation if it is one of Akashik.
pub(crate) fn count_request(
    route: &'static str,
    operation: Option<Operation>,
    status: StatusCode,
    code: Option<&'static str>,
    took: Duration,
) {
    let status = status.as_u16();
    if status == 200 {
        // By far the most: no text is made for it.
        counter!(REQUESTS, "route" => route, "status" => "200").increment(1);
    } else {
        counter!(REQUESTS, "route" => route, "status" => status.to_string()).increment(1);
    }
    histogram!(REQUEST_SECONDS, "route" => route).record(took.as_secs_f64());
    if let Some(operation) = operation {
        let code = code.unwrap_or("OK");
        counter!(OPERATIONS, "operation" => operation.as_str(), "code" => code).increment(1);
    }
}

/// Takes down how many streams of pushes are open.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a double; there are thousands")]
pub(crate) fn gauge_streams(open: usize) {
    gauge!(STREAMS).set(open as f64);
}

/// Takes down how many Fields there are, and how the storage of snapshots stands.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a double; there are thousands")]
pub(crate) fn gauge_keeping(fields: &Fields) {
    gauge!(FIELDS_OPEN).set(fields.open_count() as f64);
    gauge!(FIELDS_AWAY).set(fields.away_count() as f64);
    if let Some(counts) = fields.depot_counts() {
        counter!(DEPOT_STORED).absolute(counts.stored);
        counter!(DEPOT_FETCHED).absolute(counts.fetched);
        counter!(DEPOT_FAILURES).absolute(counts.failures);
        gauge!(DEPOT_UP).set(if counts.is_up { 1.0 } else { 0.0 });
    }
}

/// Takes down how the open Fields stand. Goes through all of their units: not for every request.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a double; 2^53 commits are far away")]
pub(crate) fn gauge_fields(fields: &[Arc<Field>], uptime: Duration) {
    gauge!(UPTIME).set(uptime.as_secs_f64());
    for field in fields {
        let status = field.status();
        let ready = if field.health().failure().is_none() { 1.0 } else { 0.0 };
        gauge!(COMMITS, "field" => status.field.clone()).set(status.position as f64);
        gauge!(ANNOUNCED_HEAD, "field" => status.field.clone())
            .set(field.announced_position() as f64);
        gauge!(UNITS, "field" => status.field.clone()).set(status.units.total as f64);
        if let Some(progress) = field.enrichment() {
            let up = if progress.failure.is_none() { 1.0 } else { 0.0 };
            gauge!(VECTORS, "field" => status.field.clone()).set(progress.done as f64);
            gauge!(VECTORS_WANTED, "field" => status.field.clone()).set(progress.of as f64);
            gauge!(EMBEDDER_UP, "field" => status.field.clone()).set(up);
        }
        gauge!(READY, "field" => status.field).set(ready);
    }
}
