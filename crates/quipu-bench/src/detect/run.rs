//! How much detection finds on labelled data, and how often it is wrong. Two kinds of data: whole
//! collections with planted contradictions, and pairs of sentences. Nothing is fitted to either.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{corpus, pairs};
use crate::measure::{dataset, failure::Failure, report::Report};

#[derive(Debug, Args)]
pub(crate) struct DetectArgs {
    /// Collections (.json, .json.gz, or a folder of them), or pairs: .jsonl with a, b and label
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Units that one new unit is held against
    #[arg(long, default_value_t = quipu_field::limits::DETECT_CANDIDATES_MAX)]
    candidates: usize,
    /// Print this many of the surest verdicts
    #[arg(long, default_value_t = 0)]
    show: usize,
}

pub(crate) fn run(args: &DetectArgs, report: &mut Report) -> Result<(), Failure> {
    for path in &args.data {
        if is_pairs(path) {
            pairs::run(path, args.show, report)?;
        } else {
            for data in dataset::load(path)? {
                corpus::run(&data, args.candidates, args.show, report);
            }
        }
    }
    Ok(())
}

fn is_pairs(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// A share of a whole, for people.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
