//! REPLAY of a task at full depth, in process: where every event of the log belongs to the task, and where one in
//! fifty does. Each is asked several times, so that the log is read from the page cache.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use quipu_field::Field;
use quipu_wire::akashik::{ReplayDepth, ReplayPayload, ReplayResponse, ReplayTarget};

use super::open;
use crate::measure::{
    corpus::TASKS,
    failure::Failure,
    report::Report,
    stopwatch::{Samples, Stopwatch, rate},
    workplace::Workplace,
};

const ROUNDS: usize = 7;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Where to keep the data while measuring
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Units in the Field
    #[arg(long, default_value_t = 100_000)]
    units: usize,
}

pub(crate) fn run(args: &ReplayArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    for (tasks, what) in [(1, "every event told"), (TASKS, "one event in fifty told")] {
        let folder = Workplace::new(&args.data, &format!("replay-{tasks}"));
        open::on_filled(&folder, args.units, seed, tasks, async |field| {
            measure(field, args.units, what, report).await
        })?;
    }
    Ok(())
}

async fn measure(
    field: &Arc<Field>,
    units: usize,
    what: &str,
    report: &mut Report,
) -> Result<(), Failure> {
    for depth in [ReplayDepth::Summary, ReplayDepth::FullTrace] {
        let (mut samples, mut written) = (Samples::default(), Samples::default());
        let (mut told, mut bytes) = (0, 0);
        // The first one warms the page cache and is not counted.
        for round in 0..=ROUNDS {
            let watch = Stopwatch::start();
            let answer = replay(field, depth).await?;
            let took = watch.elapsed();
            let watch = Stopwatch::start();
            let text =
                serde_json::to_vec(&answer).map_err(|error| Failure::new(error.to_string()))?;
            if round > 0 {
                samples.push(took);
                written.push(watch.elapsed());
            }
            (told, bytes) = (answer.timeline.len(), text.len());
        }
        let what = format!("REPLAY {depth}, {what}");
        report.latencies(&what, &samples, None);
        let median = std::time::Duration::from_secs_f64(samples.percentile(0.5) / 1e6);
        report.figure(&format!("{what}: of the log"), rate(units, median), "events/s");
        if depth == ReplayDepth::FullTrace {
            report.figure(&format!("{what}: returned"), rate(told, median), "events/s");
            report.latencies("  written as JSON", &written, None);
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            report.figure("  size of the answer", bytes as f64 / 1e6, "MB");
        }
    }
    Ok(())
}

async fn replay(field: &Arc<Field>, depth: ReplayDepth) -> Result<ReplayResponse, Failure> {
    let payload = ReplayPayload {
        target_type: ReplayTarget::Task,
        target_id: "task-0".to_owned(),
        depth,
        explain: false,
        without: Vec::new(),
    };
    let answer = field.replay(open::message("replay"), payload).await;
    answer.map_err(|error| Failure::new(error.to_string()))
}
