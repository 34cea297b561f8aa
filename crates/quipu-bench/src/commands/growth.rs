//! One Field that grows from size to size: what RECORD and ATTUNE take at each, of the clock and of the processor, what
//! the Field weighs, and how long it takes to open. One client; times are the client's, over loopback, so they hold what HTTP
//! costs; beside them stands what the server says an answer took.

use std::{ops::Range, path::PathBuf, sync::Arc, thread, time::Duration};

use clap::Args;
use serde_json::Value;

use super::{
    attune,
    open::{self, disk_bytes, opened, per_unit, runtime},
    record::register,
};
use crate::measure::{
    corpus::{self, Dice, TASKS},
    failure::Failure,
    http::{self, Connection, MakeRequest},
    report::Report,
    server::Server,
    stopwatch::{Samples, Stopwatch, rate},
    workplace::Workplace,
};

/// Questions that are asked before the first one counts.
const WARM: usize = 16;
/// A server rests that uses no more of a core than this.
const RESTING: f64 = 0.1;
/// How long it is looked at each time, which is longer than its background work ever pauses, and how long it is waited
/// for at most.
const GLANCE: Duration = Duration::from_secs(2);
const REST_MAX: Duration = Duration::from_secs(180);

#[derive(Debug, Args)]
pub(crate) struct GrowthArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Sizes of the Field, from small to large
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000")]
    sizes: Vec<usize>,
    /// RECORDs at each size, a fifth of it at most; they are its last units
    #[arg(long, default_value_t = 2000)]
    records: usize,
    /// ATTUNEs at each size
    #[arg(long, default_value_t = 1000)]
    questions: usize,
}

pub(crate) fn run(args: &GrowthArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    if !args.sizes.is_sorted() || args.sizes.contains(&0) {
        return Err(Failure::new("sizes must go from small to large, above zero"));
    }
    let mut growing = Growing {
        folder: Workplace::new(&args.data, "growth"),
        dice: Dice::new(seed),
        units: 0,
        seed,
    };
    report.figure("RECORD payload, mean", payload_bytes(seed), "bytes");
    for &size in &args.sizes {
        let records = args.records.min(size / 5).min(size - growing.units.min(size));
        growing.fill(size - records, report)?;
        growing.weigh(size, report)?;
        growing.serve(size, args.questions, report)?;
    }
    Ok(())
}

/// The Field, and how far it is.
struct Growing {
    folder: Workplace,
    dice: Dice,
    units: usize,
    seed: u64,
}

impl Growing {
    /// Adds units in process, up to so many, and closes the Field in order.
    fn fill(&mut self, units: usize, report: &mut Report) -> Result<(), Failure> {
        let more = self.units..units;
        let watch = Stopwatch::start();
        runtime()?.block_on(async {
            let field = open::open(self.folder.path())?;
            if self.units == 0 {
                open::register(&field).await?;
            }
            open::grow(&field, more.clone(), &mut self.dice, TASKS).await?;
            field.close().await;
            Ok::<(), Failure>(())
        })?;
        let filled = rate(more.len(), watch.elapsed());
        report.figure(&format!("filled in process up to {units} units"), filled, "units/s");
        self.units = units;
        Ok(())
    }

    /// The files, and how long it takes to open them.
    fn weigh(&self, size: usize, report: &mut Report) -> Result<(), Failure> {
        let disk = per_unit(disk_bytes(self.folder.path(), ""), self.units);
        report.figure(&format!("disk, {size} units"), disk, "bytes/unit");
        let took = opened(self.folder.path())?;
        let took = took.get("seconds").and_then(Value::as_f64).unwrap_or(f64::NAN);
        report.figure(&format!("opened, {size} units"), took, "s");
        Ok(())
    }

    /// Records the last units of this size over HTTP, and asks.
    fn serve(&mut self, size: usize, questions: usize, report: &mut Report) -> Result<(), Failure> {
        let server = Server::start(self.folder.path())?;
        for agent in ["writer", "reader"] {
            register(&server, agent)?;
        }
        report.figure(&format!("at rest after it opened, {size} units"), await_rest(&server), "s");
        let records = requests(self.units..size, &mut self.dice);
        report_measured(&ask(&server, records)?, &format!("RECORD, {size} units"), report);
        self.units = size;
        report.figure(&format!("at rest after RECORD, {size} units"), await_rest(&server), "s");
        let make: MakeRequest = attune::requests(self.seed);
        // Numbers of messages go on from size to size: an answer must never be one that is known.
        let numbers = |count: Range<usize>| {
            let make = Arc::clone(&make);
            count.map(move |number| make((size * 4 + number) as u64))
        };
        ask(&server, numbers(0..WARM))?;
        let measured = ask(&server, numbers(WARM..WARM + questions))?;
        report_measured(&measured, &format!("ATTUNE, {size} units"), report);
        let memory = server.resident_bytes() / 1024.0 / 1024.0;
        report.figure(&format!("resident memory, {size} units"), memory, "MiB");
        Ok(())
    }
}

/// Waits until the server rests: beside its work it goes through the log that it opened, and looks for contradictions
/// in what was recorded. What is measured comes after. How many seconds that took.
fn await_rest(server: &Server) -> f64 {
    let watch = Stopwatch::start();
    let mut used = server.cpu_seconds();
    while watch.elapsed() < REST_MAX {
        let before = used;
        let looked = Stopwatch::start();
        while looked.elapsed() < GLANCE {
            thread::park_timeout(GLANCE.saturating_sub(looked.elapsed()));
        }
        used = server.cpu_seconds();
        if used - before <= RESTING * looked.elapsed().as_secs_f64() {
            break;
        }
    }
    watch.elapsed().as_secs_f64()
}

/// What a few requests took, one after the other.
struct Measured {
    samples: Samples,
    /// By the server's own clock.
    in_server: Samples,
    cpu_seconds: f64,
}

fn report_measured(measured: &Measured, what: &str, report: &mut Report) {
    report.latencies(what, &measured.samples, None);
    report.latencies(&format!("{what}; in the server"), &measured.in_server, None);
    let each = per_unit(measured.cpu_seconds * 1e6, measured.samples.len());
    report.figure(&format!("{what}: processor time"), each, "us");
}

fn ask(server: &Server, requests: impl IntoIterator<Item = Vec<u8>>) -> Result<Measured, Failure> {
    let failed = |error| Failure::caused("a request failed", &error);
    let mut connection = Connection::open(server.address).map_err(failed)?;
    let (mut samples, mut in_server) = (Samples::default(), Samples::default());
    let cpu = server.cpu_seconds();
    for request in requests {
        let watch = Stopwatch::start();
        let (status, body) = connection.exchange(&request).map_err(failed)?;
        samples.push(watch.elapsed());
        if status != 200 {
            let said = String::from_utf8_lossy(body);
            return Err(Failure::new(format!("a request was refused with {status}: {said}")));
        }
        if let Some(took) = connection.header("server-timing").and_then(server_time) {
            in_server.push(took);
        }
    }
    Ok(Measured { samples, in_server, cpu_seconds: server.cpu_seconds() - cpu })
}

/// What a server says that an answer took.
fn server_time(timing: &str) -> Option<Duration> {
    let millis: f64 = timing.strip_prefix("total;dur=")?.parse().ok()?;
    Duration::try_from_secs_f64(millis / 1e3).ok()
}

/// RECORDs made beforehand, so that making them is not measured.
fn requests(numbers: Range<usize>, dice: &mut Dice) -> Vec<Vec<u8>> {
    let mut request = |number: usize| {
        let payload = corpus::record(dice).to_string();
        http::post("/v1/record", "writer", &format!("w-{number}"), &payload)
    };
    numbers.map(&mut request).collect()
}

/// How large the texts are, with everything around them.
fn payload_bytes(seed: u64) -> f64 {
    const MANY: usize = 1000;
    let mut dice = Dice::new(seed);
    let bytes: usize = (0..MANY).map(|_| corpus::record(&mut dice).to_string().len()).sum();
    per_unit(f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)), MANY)
}
