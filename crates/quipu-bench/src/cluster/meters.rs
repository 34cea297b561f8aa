//! What the nodes themselves count of their log, read from `/metrics` and summed up.

use std::collections::BTreeMap;

use crate::measure::{failure::Failure, http, report::Report, server::Server};

const BATCH: &str = "quipu_log_batch_commits";
const APPEND: &str = "quipu_log_append_seconds";
const TURN: &str = "quipu_log_turn_seconds";
const LAG: &str = "quipu_log_lag_seconds";
const CONFLICTS: &str = "quipu_log_conflicts_total";

/// Counts of all nodes together, by name with labels.
#[derive(Debug, Default)]
pub(crate) struct Meters(BTreeMap<String, f64>);

impl Meters {
    /// As they are now.
    pub(crate) fn of(nodes: &[Server]) -> Result<Self, Failure> {
        let mut sums = BTreeMap::new();
        for node in nodes {
            let failed = |error| Failure::caused("cannot read /metrics", &error);
            let mut connection = http::Connection::open(node.address).map_err(failed)?;
            let request = http::get_in("default", "/metrics", "bench");
            let (_, body) = connection.exchange(&request).map_err(failed)?;
            let text = String::from_utf8_lossy(body);
            for line in text.lines().filter(|line| line.starts_with("quipu_log_")) {
                if let Some((name, value)) = line.rsplit_once(' ') {
                    *sums.entry(name.to_owned()).or_default() += value.parse().unwrap_or(0.0);
                }
            }
        }
        Ok(Self(sums))
    }

    /// What was added since then.
    pub(crate) fn since(self, before: &Self) -> Self {
        let added = |(name, value): (String, f64)| {
            let earlier = before.0.get(&name).copied().unwrap_or(0.0);
            (name, value - earlier)
        };
        Self(self.0.into_iter().map(added).collect())
    }

    fn sum(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }

    fn mean(&self, name: &str) -> f64 {
        self.sum(&format!("{name}_sum")) / self.sum(&format!("{name}_count")).max(1.0)
    }

    /// The upper end of the bucket below which this share of the samples lies.
    fn percentile(&self, name: &str, share: f64) -> f64 {
        let wanted = self.sum(&format!("{name}_count")) * share;
        let start = format!("{name}_bucket{{le=\"");
        let mut buckets: Vec<(f64, f64)> = self
            .0
            .iter()
            .filter_map(|(name, count)| {
                let end = name.strip_prefix(&start)?.strip_suffix("\"}")?;
                Some((if end == "+Inf" { f64::INFINITY } else { end.parse().ok()? }, *count))
            })
            .collect();
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        buckets.iter().find(|(_, count)| *count >= wanted).map_or(f64::NAN, |(end, _)| *end)
    }

    /// How many commits a batch had.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    pub(crate) fn mean_batch(&self) -> usize {
        self.mean(BATCH).round().max(1.0) as usize
    }

    pub(crate) fn report(&self, what: &str, report: &mut Report) {
        report.figure(&format!("commits in a batch, {what}"), self.mean(BATCH), "");
        report.figure(&format!("time to append and sync, {what}"), self.mean(APPEND) * 1e3, "ms");
        report.figure(&format!("time to wait for a turn, {what}"), self.mean(TURN) * 1e3, "ms");
        let batches = self.sum(&format!("{BATCH}_count"));
        report.figure(&format!("batches, {what}"), batches, "");
        let turns = self.sum(&format!("{TURN}_count"));
        report.figure(&format!("turns, {what}"), turns, "");
        report.figure(&format!("conflicts, {what}"), self.sum(CONFLICTS), "");
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let lag = self.percentile(LAG, share) * 1e3;
            let what = format!("request to known elsewhere, at most, {name}, {what}");
            report.figure(&what, lag, "ms");
        }
    }
}
