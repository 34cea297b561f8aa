//! RECORD over HTTP by 1, 8 and 64 keep-alive clients, every answer synced, one unit a request or several,
//! beside the machine's own sync time; and the engine beside bare SQLite.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde_json::json;

use super::{engine, probe};
use crate::measure::{
    corpus::{self, Dice},
    failure::Failure,
    http::{self, LoadResult, MakeRequest},
    report::Report,
    server::Server,
    stopwatch::rate,
    workplace::Workplace,
};

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Seconds for each number of clients
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Numbers of concurrent clients
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    clients: Vec<usize>,
    /// Units in each request; more than one go to `/v1/records`
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    units: u16,
    /// Measure each also with detection off, and give the ratio
    #[arg(long)]
    compare_detection: bool,
    /// Leave out the comparison with bare SQLite
    #[arg(long)]
    skip_engine: bool,
}

pub(crate) fn run(args: &RecordArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let mut sync = probe::measure(&args.data)?;
    report.latencies("sync of a 900-byte append, before", &sync, None);
    for &clients in &args.clients {
        let what = match args.units {
            1 => format!("RECORD, {clients} clients"),
            units => format!("RECORD of {units} units, {clients} clients"),
        };
        let with = measure(args, clients, seed, &what, &[], report)?;
        if clients == 1 {
            // The disk changes its mind within seconds, so it is asked on both sides of the run.
            let after = probe::measure(&args.data)?;
            report.latencies("sync of a 900-byte append, after", &after, None);
            sync.extend(after);
            let multiple = with.samples.percentile(0.5) / sync.percentile(0.5);
            report.figure(&format!("{what}: p50 as a multiple of the sync time"), multiple, "x");
        }
        if args.compare_detection {
            let plain = format!("{what}, detection off");
            let without = measure(args, clients, seed, &plain, &["--detect=false"], report)?;
            let [with, without] =
                [with, without].map(|result| rate(result.samples.len(), result.elapsed));
            report.figure(&format!("{what}: with detection / without"), with / without, "x");
        }
    }
    if !args.skip_engine {
        let folder = Workplace::new(&args.data, "engine");
        engine::compare(folder.path(), seed, report)?;
    }
    Ok(())
}

/// So many clients on a server of their own, with these options.
fn measure(
    args: &RecordArgs,
    clients: usize,
    seed: u64,
    what: &str,
    options: &[&str],
    report: &mut Report,
) -> Result<LoadResult, Failure> {
    let folder = Workplace::new(&args.data, &format!("record-{clients}"));
    let server = Server::start_with(folder.path(), options)?;
    register(&server, "bench")?;
    let cpu = server.cpu_seconds();
    let lasting = Duration::from_secs(args.seconds);
    let result = http::load(server.address, clients, lasting, &requests(seed, args.units))?;
    let requests = rate(result.samples.len(), result.elapsed);
    report.latencies(what, &result.samples, Some(requests));
    if args.units > 1 {
        report.figure(&format!("{what}: units"), requests * f64::from(args.units), "/s");
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let count = result.samples.len() as f64;
    report.figure(
        &format!("{what}: server CPU per request"),
        (server.cpu_seconds() - cpu) / count * 1e6,
        "us",
    );
    if result.failures > 0 {
        return Err(Failure::new(format!("{} requests were refused", result.failures)));
    }
    Ok(result)
}

/// Registers an agent and checks that it worked.
pub(crate) fn register(server: &Server, agent: &str) -> Result<(), Failure> {
    let payload = json!({"id": agent, "role": "bench", "interests": []});
    http::must(server.address, "/v1/register", agent, &payload)
}

/// Texts are made beforehand and used in turn, so that making them is not measured.
fn requests(seed: u64, units: u16) -> MakeRequest {
    let mut dice = Dice::new(seed);
    let mut payload = || match units {
        1 => corpus::record(&mut dice).to_string(),
        _ => {
            let units: Vec<_> = (0..units).map(|_| corpus::record(&mut dice)).collect();
            json!({ "units": units }).to_string()
        }
    };
    let payloads: Vec<String> = (0..512).map(|_| payload()).collect();
    let path = if units == 1 { "/v1/record" } else { "/v1/records" };
    Arc::new(move |number| {
        let at = usize::try_from(number).unwrap_or(0) % payloads.len();
        http::post(path, "bench", &format!("m-{number}"), &payloads[at])
    })
}
