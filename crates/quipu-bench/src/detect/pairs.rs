//! Pairs of sentences with a label: precision, recall and F1 of "contradiction" by how sure the
//! detector must be.

use std::path::Path;

use quipu_recall::{Claim, detect::BuiltIn};
use serde::Deserialize;

use super::run::share;
use crate::measure::{failure::Failure, report::Report};

/// The closeness of two sentences that are given as a pair: they are about the same.
const CLOSENESS: f32 = 0.6;

#[derive(Debug, Deserialize)]
struct Pair {
    a: String,
    b: String,
    label: String,
}

pub(crate) fn run(path: &Path, show: usize, report: &mut Report) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::caused(format!("cannot read {}", path.display()), &error))?;
    let mut judged = Vec::new();
    for (line, row) in (1..).zip(text.lines()).filter(|(_, row)| !row.trim().is_empty()) {
        let pair: Pair = serde_json::from_str(row).map_err(|error| {
            Failure::caused(format!("{} line {line} is no pair", path.display()), &error)
        })?;
        let verdict = BuiltIn::default().surest(&claim(&pair.a), &claim(&pair.b), CLOSENESS);
        judged.push((pair.label == "contradiction", verdict));
    }
    let contradictions = judged.iter().filter(|(truth, _)| *truth).count();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    report.line(&format!("{name}: {} pairs, {contradictions} contradictions", judged.len()));
    for sureness in [0.1, 0.135, 0.3, 0.5, 0.6, 0.7, 0.8] {
        let found = |truth: bool| {
            let sure = judged.iter().filter(|(label, _)| *label == truth);
            let sure = sure.filter_map(|(_, verdict)| verdict.as_ref());
            sure.filter(|verdict| verdict.sureness >= sureness).count()
        };
        let (hits, wrong) = (found(true), found(false));
        let (precision, recall) = (share(hits, hits + wrong), share(hits, contradictions));
        let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
        report.figure(&format!("{name}: F1 at sureness {sureness}"), f1, "");
        report.line(&format!("    precision {precision:.3}, recall {recall:.3}"));
    }
    judged.sort_by(|a, b| sureness(b.1.as_ref()).total_cmp(&sureness(a.1.as_ref())));
    for (truth, verdict) in judged.iter().take(show) {
        let reason = verdict.as_ref().map_or("", |verdict| verdict.reason.as_str());
        report.line(&format!("{} {reason}", if *truth { "right" } else { "wrong" }));
    }
    Ok(())
}

fn claim(content: &str) -> Claim<'_> {
    Claim { content, assumptions: &[], confidence: None, author: 0 }
}

fn sureness(verdict: Option<&quipu_recall::Disagreement>) -> f64 {
    verdict.map_or(0.0, |verdict| verdict.sureness)
}
