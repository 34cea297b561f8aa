//! Many SSE subscribers, one writer: how long after the answer to a RECORD each of them is told, what that takes of
//! the processor on either side, and what an idle subscriber costs the server. All of them share this machine with
//! the server, so the times hold what reading a thousand sockets costs here, too.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use serde_json::{Value, json};

use super::probe;
use crate::measure::{
    corpus::{self, Dice},
    failure::Failure,
    http::{self, Connection},
    listeners::Listeners,
    report::Report,
    server::{Server, cpu_seconds},
    stopwatch::{self, Samples},
    workplace::Workplace,
};

#[derive(Debug, Args)]
pub(crate) struct SubscribeArgs {
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Subscribers, each an agent with a connection of its own
    #[arg(long, default_value_t = 1000)]
    subscribers: usize,
    /// Units that are recorded, each when all were told of the one before
    #[arg(long, default_value_t = 200)]
    units: usize,
}

pub(crate) fn run(args: &SubscribeArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let sync = probe::measure(&args.data)?;
    report.latencies("sync of a 900-byte append", &sync, None);
    let folder = Workplace::new(&args.data, "subscribe");
    let server = Server::start(folder.path())?;
    measure(args, seed, &server, report)
}

fn measure(
    args: &SubscribeArgs,
    seed: u64,
    server: &Server,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut writer = Writer::open(server)?;
    writer.ask("/v1/register", "writer", &json!({"id": "writer", "role": "bench"}))?;
    let mut paths = Vec::new();
    for number in 0..args.subscribers {
        paths.push(subscribe(&mut writer, &format!("reader-{number}"))?);
    }
    let before = server.resident_bytes();
    let mut listeners = Listeners::new()?;
    for path in paths {
        listeners.open(server.address, &path)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let count = args.subscribers as f64;
    let idle = (server.resident_bytes() - before) / count / 1024.0;
    report.figure("memory of an idle SSE subscriber", idle, "KiB");

    let arrivals = listeners.listen();
    let mut dice = Dice::new(seed);
    let (mut acks, mut latencies, mut lasts) =
        (Samples::default(), Samples::default(), Samples::default());
    let (server_cpu, own_cpu) = (server.cpu_seconds(), cpu_seconds("self"));
    for _ in 0..args.units {
        let payload = corpus::record(&mut dice);
        let sent = stopwatch::now();
        writer.ask("/v1/record", "writer", &payload)?;
        let answered = stopwatch::now();
        acks.push(answered - sent);
        let mut last = Duration::ZERO;
        for arrival in arrivals.next()? {
            let latency = arrival.saturating_duration_since(answered);
            latencies.push(latency);
            last = last.max(latency);
        }
        lasts.push(last);
    }
    let what = format!("{} SSE subscribers", args.subscribers);
    report.latencies(&format!("RECORD with {what}"), &acks, None);
    report.latencies(&format!("from the answer to arrival, {what}"), &latencies, None);
    report.latencies(&format!("until the last one is told, {what}"), &lasts, None);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let each = |seconds: f64| seconds * 1e6 / count / args.units as f64;
    let (server_cpu, own_cpu) = (server.cpu_seconds() - server_cpu, cpu_seconds("self") - own_cpu);
    report.figure("processor time of a push, server", each(server_cpu), "us");
    report.figure("processor time of a push, listeners", each(own_cpu), "us");
    Ok(())
}

/// Registers an agent, subscribes it, and gives the path of its stream.
fn subscribe(writer: &mut Writer, agent: &str) -> Result<String, Failure> {
    writer.ask("/v1/register", agent, &json!({"id": agent, "role": "bench"}))?;
    let payload = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = writer.ask("/v1/subscribe", agent, &payload)?;
    let id = answer["subscription"]["id"].as_str().unwrap_or_default();
    Ok(format!("/v1/subscriptions/{id}/events"))
}

/// Who sends what the subscribers are told of.
struct Writer {
    connection: Connection,
    sent: u64,
}

impl Writer {
    fn open(server: &Server) -> Result<Self, Failure> {
        let connection = Connection::open(server.address);
        let connection = connection.map_err(|error| Failure::caused("cannot connect", &error))?;
        Ok(Self { connection, sent: 0 })
    }

    /// Sends a payload and gives the answer, which must be a good one.
    fn ask(&mut self, path: &str, agent: &str, payload: &Value) -> Result<Value, Failure> {
        self.sent += 1;
        let request = http::post(path, agent, &format!("s-{}", self.sent), &payload.to_string());
        let (status, body) = self
            .connection
            .exchange(&request)
            .map_err(|error| Failure::caused(format!("cannot send to {path}"), &error))?;
        match (status, serde_json::from_slice(body)) {
            (200, Ok(body)) => Ok(body),
            _ => Err(Failure::new(format!("{path} answered {status}"))),
        }
    }
}
