//! RECORD over HTTP by 1, 8 and 64 keep-alive clients, every answer synced, beside the machine's own
//! sync time; and the engine beside bare SQLite.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde_json::json;

use super::{
    child::ServerProcess,
    corpus::{self, Dice},
    engine,
    http::{self, MakeRequest},
    probe,
    report::Report,
    stopwatch::rate,
    workplace::Workplace,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Seconds for each number of clients
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Numbers of concurrent clients
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    clients: Vec<usize>,
    /// Leave out the comparison with bare SQLite
    #[arg(long)]
    skip_engine: bool,
}

pub(super) fn run(args: &RecordArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let mut sync = probe::measure(&args.data)?;
    report.latencies("sync of a 900-byte append, before", &sync, None);
    for &clients in &args.clients {
        let folder = Workplace::new(&args.data, &format!("record-{clients}"));
        let server = ServerProcess::start(folder.path())?;
        register(&server, "bench")?;
        let cpu = server.cpu_seconds();
        let lasting = Duration::from_secs(args.seconds);
        let result = http::load(server.address, clients, lasting, &requests(seed))?;
        let what = format!("RECORD, {clients} clients");
        report.latencies(&what, &result.samples, Some(rate(result.samples.len(), result.elapsed)));
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let count = result.samples.len() as f64;
        report.figure(
            &format!("{what}: server CPU per request"),
            (server.cpu_seconds() - cpu) / count * 1e6,
            "us",
        );
        if clients == 1 {
            // The disk changes its mind within seconds, so it is asked on both sides of the run.
            let after = probe::measure(&args.data)?;
            report.latencies("sync of a 900-byte append, after", &after, None);
            sync.extend(after);
            let multiple = result.samples.percentile(0.5) / sync.percentile(0.5);
            report.figure(&format!("{what}: p50 as a multiple of the sync time"), multiple, "x");
        }
        if result.failures > 0 {
            return Err(Failure::new(format!("{} requests were refused", result.failures)));
        }
    }
    if !args.skip_engine {
        let folder = Workplace::new(&args.data, "engine");
        engine::compare(folder.path(), seed, report)?;
    }
    Ok(())
}

/// Registers an agent and checks that it worked.
pub(super) fn register(server: &ServerProcess, agent: &str) -> Result<(), Failure> {
    let payload = json!({"id": agent, "role": "bench", "interests": []});
    http::must(server.address, "/v1/register", agent, &payload)
}

/// Texts are made beforehand and used in turn, so that making them is not measured.
fn requests(seed: u64) -> MakeRequest {
    let mut dice = Dice::new(seed);
    let payloads: Vec<String> = (0..512).map(|_| corpus::record(&mut dice).to_string()).collect();
    Arc::new(move |number| {
        let at = usize::try_from(number).unwrap_or(0) % payloads.len();
        http::post("/v1/record", "bench", &format!("m-{number}"), &payloads[at])
    })
}
