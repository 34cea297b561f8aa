//! A table for people as it is measured, and the raw figures in a folder of their own.

use std::{fmt::Write as _, path::Path};

use super::stopwatch::Samples;
use crate::measure::failure::Failure;

/// What was measured.
#[derive(Debug)]
pub(crate) struct Report {
    raw: String,
    summary: String,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        let machine = machine();
        let command: Vec<String> = std::env::args().skip(1).collect();
        let mut report = Self { raw: "what,figure,unit\n".to_owned(), summary: String::new() };
        report.line(&format!(
            "quipu {} `quipu-bench {}`",
            env!("CARGO_PKG_VERSION"),
            command.join(" ")
        ));
        report.line(&format!("{machine}, seed {seed}"));
        report.line("");
        report
    }

    /// A line of prose.
    pub(crate) fn line(&mut self, text: &str) {
        println!("{text}");
        self.summary.push_str(text);
        self.summary.push('\n');
    }

    /// One figure.
    pub(crate) fn figure(&mut self, what: &str, figure: f64, unit: &str) {
        writeln!(self.raw, "{what},{figure},{unit}").ok();
        self.line(&format!("{what:<58} {:>12} {unit}", readable(figure)));
    }

    /// How good an order is.
    pub(crate) fn ranking(&mut self, what: &str, recall: f64, ndcg: f64) {
        for (name, value) in [("recall@10", recall), ("ndcg@10", ndcg)] {
            writeln!(self.raw, "{what} {name},{value},share").ok();
        }
        self.line(&format!("{what:<48} recall@10 {recall:.4}  nDCG@10 {ndcg:.4}"));
    }

    /// Latencies, with a rate where the elapsed time says one.
    pub(crate) fn latencies(&mut self, what: &str, samples: &Samples, rate: Option<f64>) {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| samples.percentile(share));
        for (name, value) in [("p50", p50), ("p95", p95), ("p99", p99)] {
            writeln!(self.raw, "{what} {name},{value},us").ok();
        }
        let mut text = format!(
            "{what:<58} p50 {:>9} us  p95 {:>9} us  p99 {:>9} us",
            readable(p50),
            readable(p95),
            readable(p99)
        );
        if let Some(rate) = rate {
            writeln!(self.raw, "{what} rate,{rate},1/s").ok();
            write!(text, "  {:>10} /s", readable(rate)).ok();
        }
        write!(text, "  (n={})", samples.len()).ok();
        self.line(&text);
    }

    /// Writes what was measured, where a folder was given.
    pub(crate) fn finish(self, out: Option<&Path>) -> Result<(), Failure> {
        let Some(out) = out else { return Ok(()) };
        let failed = |error| {
            Failure::caused(format!("cannot write the results to {}", out.display()), &error)
        };
        std::fs::create_dir_all(out).map_err(failed)?;
        std::fs::write(out.join("raw.csv"), self.raw).map_err(failed)?;
        std::fs::write(out.join("summary.md"), format!("```text\n{}```\n", self.summary))
            .map_err(failed)?;
        println!("written to {}", out.display());
        Ok(())
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown CPU");
    format!("{cores} cores of {}", model.trim_start_matches([' ', '\t', ':']))
}

fn readable(figure: f64) -> String {
    if figure.abs() >= 100.0 { format!("{figure:.0}") } else { format!("{figure:.2}") }
}
