//! COMPACT of a whole Field, in process: archive, summarize and purge, each on a Field of its own. Each is one
//! commit, whatever the number of units, and that is checked.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use quipu_field::Field;
use quipu_wire::akashik::CompactPayload;
use serde_json::json;

use super::open;
use crate::{
    measure::{
        corpus::TASKS,
        failure::Failure,
        report::Report,
        stopwatch::{Stopwatch, rate},
        workplace::Workplace,
    },
    recall::quality,
};

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Units in the Field, all of which are compacted
    #[arg(long, default_value_t = 100_000)]
    units: usize,
    /// Instead: how much of what questions need is still found after a summarize of all but the last session, on this .json or
    /// .json.gz file of labelled conversations or a folder of them
    #[arg(long, value_name = "DATA")]
    quality: Option<PathBuf>,
    /// With --quality, only the first N conversations of each file
    #[arg(long, value_name = "N", requires = "quality")]
    limit: Option<usize>,
}

impl CompactArgs {
    /// Whether `quipu` itself is measured.
    pub(crate) const fn needs_server(&self) -> bool {
        self.quality.is_some()
    }
}

pub(crate) fn run(args: &CompactArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    if let Some(data) = &args.quality {
        return quality::run(data, args.limit, &args.data, report);
    }
    for strategy in ["archive", "summarize", "purge"] {
        let folder = Workplace::new(&args.data, &format!("compact-{strategy}"));
        open::on_filled(&folder, args.units, seed, TASKS, async |field| {
            measure(field, args.units, strategy, report).await
        })?;
    }
    Ok(())
}

async fn measure(
    field: &Arc<Field>,
    units: usize,
    strategy: &str,
    report: &mut Report,
) -> Result<(), Failure> {
    let filter = json!({"status": ["active", "pending_enrichment", "contested"]});
    let payload = json!({"strategy": strategy, "filter": filter, "reason": "bench"});
    let (payload, _) =
        CompactPayload::parse(payload).map_err(|error| Failure::new(error.to_string()))?;
    let before = field.head().position;
    let watch = Stopwatch::start();
    let answer = field
        .compact(open::message("compact"), payload)
        .await
        .map_err(|error| Failure::new(error.to_string()))?;
    let took = watch.elapsed();
    let commits = field.head().position - before;
    // A summarize leaves what holds, and what would be no shorter.
    let is_all = answer.units_affected == units as u64
        || strategy == "summarize" && answer.units_affected > 0;
    if commits != 1 || !is_all {
        let counted = answer.units_affected;
        return Err(Failure::new(format!("{counted} units in {commits} commits, not all in one")));
    }
    let what = format!("COMPACT {strategy}, {} units, one commit", answer.units_affected);
    report.figure(&what, took.as_secs_f64(), "s");
    report.figure(
        "  units a second",
        rate(usize::try_from(answer.units_affected).unwrap_or(units), took),
        "units/s",
    );
    if answer.synthesis_units_created > 0 {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        report.figure("  summaries written", answer.synthesis_units_created as f64, "units");
    }
    Ok(())
}
