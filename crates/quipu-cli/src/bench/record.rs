//! RECORD over HTTP by 1, 8 and 64 keep-alive clients, every answer synced, beside the machine's own
//! sync time; and the engine beside bare SQLite.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde_json::json;

use super::{
    child::ServerProcess,
    corpus::{self, Dice},
    engine,
    http::{self, Connection, MakeRequest},
    probe,
    report::Report,
    stopwatch::rate,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = "./quipu-bench")]
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
    let sync = probe::measure(&args.data)?;
    report.latencies("sync of a 900-byte append", &sync, None);
    let runtime = runtime()?;
    for &clients in &args.clients {
        let data = args.data.join(format!("record-{clients}"));
        let server = ServerProcess::start(&data)?;
        runtime.block_on(register(&server, "bench"))?;
        let cpu = server.cpu_seconds();
        let lasting = Duration::from_secs(args.seconds);
        let result =
            runtime.block_on(http::load(server.address, clients, lasting, requests(seed)))?;
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
            let multiple = result.samples.percentile(0.5) / sync.percentile(0.5);
            report.figure(&format!("{what}: p50 as a multiple of the sync time"), multiple, "x");
        }
        if result.failures > 0 {
            return Err(Failure::new(format!("{} requests were refused", result.failures)));
        }
        drop(server);
        std::fs::remove_dir_all(&data).ok();
    }
    if !args.skip_engine {
        engine::compare(&args.data, seed, report)?;
    }
    std::fs::remove_dir_all(&args.data).ok();
    Ok(())
}

/// The load generator gets one thread: more would only take from the server.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the load generator: {error}")))
}

/// Registers an agent and checks that it worked.
pub(super) async fn register(server: &ServerProcess, agent: &str) -> Result<(), Failure> {
    let payload = json!({"id": agent, "role": "bench", "interests": []});
    let request = http::post("/v1/register", agent, &format!("register-{agent}"), &payload);
    let mut connection =
        Connection::open(server.address).await.map_err(|error| Failure::new(error.to_string()))?;
    let status =
        connection.send(&request).await.map_err(|error| Failure::new(error.to_string()))?;
    // 409: registered by an earlier run over the same data.
    if status == 200 || status == 409 {
        Ok(())
    } else {
        Err(Failure::new(format!("REGISTER answered {status}")))
    }
}

/// Texts are made beforehand and used in turn, so that making them is not measured.
fn requests(seed: u64) -> MakeRequest {
    let mut dice = Dice::new(seed);
    let payloads: Vec<String> = (0..512).map(|_| corpus::record(&mut dice).to_string()).collect();
    Arc::new(move |number| {
        let at = usize::try_from(number).unwrap_or(0) % payloads.len();
        let body = &payloads[at];
        format!(
            "POST /v1/record HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nakashik-agent: bench\r\n\
             akashik-message-id: m-{number}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    })
}
