//! ATTUNE over HTTP with a hint and ten units, on Fields of several sizes.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde_json::json;

use super::{
    open::{fill, runtime},
    record::register,
};
use crate::measure::{
    corpus::{Dice, TASKS, sentence},
    failure::Failure,
    http::{self, MakeRequest},
    report::Report,
    server::Server,
    stopwatch::rate,
    workplace::Workplace,
};

#[derive(Debug, Args)]
pub(crate) struct AttuneArgs {
    /// Where to keep the data while measuring
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Sizes of the Field
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    units: Vec<usize>,
    /// Numbers of concurrent clients
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    clients: Vec<usize>,
    /// Seconds for each
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

pub(crate) fn run(args: &AttuneArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let runtime = runtime()?;
    for &units in &args.units {
        let folder = Workplace::new(&args.data, &format!("attune-{units}"));
        runtime.block_on(fill(folder.path(), units, seed, TASKS))?;
        let server = Server::start(folder.path())?;
        register(&server, "reader")?;
        for &clients in &args.clients {
            let lasting = Duration::from_secs(args.seconds);
            let used = server.cpu_seconds();
            let result = http::load(server.address, clients, lasting, &requests(seed))?;
            let what = format!("ATTUNE, {units} units, {clients} clients");
            report.latencies(
                &what,
                &result.samples,
                Some(rate(result.samples.len(), result.elapsed)),
            );
            // Unlike the time on the clock this hardly depends on what else the machine does.
            let used = (server.cpu_seconds() - used).max(0.0);
            let each = 1e6 / rate(result.samples.len(), Duration::from_secs_f64(used));
            report.figure(&format!("{what}: processor time"), each, "us");
            if result.failures > 0 {
                return Err(Failure::new(format!("{} requests were refused", result.failures)));
            }
        }
        report.figure(
            &format!("server memory, {units} units"),
            server.resident_bytes() / 1e6,
            "MB",
        );
    }
    Ok(())
}

/// Questions of one agent, ten units each, with hints that are made beforehand and used in turn.
pub(crate) fn requests(seed: u64) -> MakeRequest {
    let mut dice = Dice::new(seed ^ 0xa77);
    let hints: Vec<String> = (0..256).map(|_| sentence(&mut dice)).collect();
    Arc::new(move |number| {
        let at = usize::try_from(number).unwrap_or(0) % hints.len();
        let payload =
            json!({"scope": {"role": "reader", "max_units": 10}, "context_hint": hints[at]});
        http::post("/v1/attune", "reader", &format!("a-{number}"), &payload.to_string())
    })
}
