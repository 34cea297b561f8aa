//! Many SSE subscribers, one writer: how long after the answer to a RECORD each of them is told, and
//! what an idle one costs the server. All of them share this machine with the server, so the figures
//! hold what reading a thousand sockets costs here, too.

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};

use super::{
    child::ServerProcess,
    corpus::{self, Dice},
    http, open, probe,
    report::Report,
    stopwatch::Samples,
    workplace::Workplace,
};
use crate::{clock, failure::Failure};

/// How long all subscribers may take to be told.
const PATIENCE: Duration = Duration::from_secs(30);
const TOLD: &str = "event: memory.recorded\n";

#[derive(Debug, Args)]
pub(super) struct SubscribeArgs {
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

pub(super) fn run(args: &SubscribeArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let sync = probe::measure(&args.data)?;
    report.latencies("sync of a 900-byte append", &sync, None);
    let folder = Workplace::new(&args.data, "subscribe");
    let server = ServerProcess::start(folder.path())?;
    open::runtime()?.block_on(measure(args, seed, &server, report))
}

async fn measure(
    args: &SubscribeArgs,
    seed: u64,
    server: &ServerProcess,
    report: &mut Report,
) -> Result<(), Failure> {
    let address = server.address;
    let mut writer = Connection::open(address).await?;
    writer.ask("/v1/register", "writer", &json!({"id": "writer", "role": "bench"})).await?;
    let mut paths = Vec::new();
    for number in 0..args.subscribers {
        paths.push(subscribe(&mut writer, &format!("reader-{number}")).await?);
    }
    let before = server.resident_bytes();
    let (told, mut arrivals) = mpsc::unbounded_channel();
    for path in paths {
        let stream = listen(address, &path).await?;
        tokio::spawn(hear(stream, told.clone()));
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let count = args.subscribers as f64;
    let idle = (server.resident_bytes() - before) / count / 1024.0;
    report.figure("memory of an idle SSE subscriber", idle, "KiB");

    let mut dice = Dice::new(seed);
    let (mut acks, mut latencies, mut lasts) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..args.units {
        let payload = corpus::record(&mut dice);
        let sent = clock::now();
        writer.ask("/v1/record", "writer", &payload).await?;
        let answered = clock::now();
        acks.push(answered - sent);
        let mut last = Duration::ZERO;
        for _ in 0..args.subscribers {
            let arrival = tokio::time::timeout(PATIENCE, arrivals.recv()).await.ok().flatten();
            let arrival = arrival.ok_or_else(|| Failure::new("a subscriber was not told"))?;
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
    Ok(())
}

/// Registers an agent, subscribes it, and gives the path of its stream.
async fn subscribe(connection: &mut Connection, agent: &str) -> Result<String, Failure> {
    connection.ask("/v1/register", agent, &json!({"id": agent, "role": "bench"})).await?;
    let payload = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = connection.ask("/v1/subscribe", agent, &payload).await?;
    let id = answer["subscription"]["id"].as_str().unwrap_or_default();
    Ok(format!("/v1/subscriptions/{id}/events"))
}

/// Opens a stream and waits until it has begun.
async fn listen(address: SocketAddr, path: &str) -> Result<TcpStream, Failure> {
    let begin = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut text = Vec::new();
        // The first part of the body says when to try again.
        while !text.windows(6).any(|bytes| bytes == b"retry:") {
            if stream.read_buf(&mut text).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(stream)
    };
    begin.await.map_err(|error: std::io::Error| Failure::caused("cannot listen", &error))
}

/// Notes when a stream is told of a unit, until it ends.
async fn hear(mut stream: TcpStream, told: mpsc::UnboundedSender<Instant>) {
    let mut text = String::new();
    let mut buffer = [0; 2048];
    while let Ok(read) = stream.read(&mut buffer).await
        && read > 0
    {
        let now = clock::now();
        text.push_str(&String::from_utf8_lossy(buffer.get(..read).unwrap_or_default()));
        while let Some(at) = text.find(TOLD) {
            text.drain(..at + TOLD.len());
            // Where nobody counts any more, the run is over.
            told.send(now).ok();
        }
    }
}

/// One keep-alive connection.
struct Connection {
    stream: TcpStream,
    sent: u64,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let failed = |error| Failure::caused("cannot connect", &error);
        let stream = TcpStream::connect(address).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        Ok(Self { stream, sent: 0 })
    }

    /// Sends a payload and gives the answer, which must be a good one.
    async fn ask(&mut self, path: &str, agent: &str, payload: &Value) -> Result<Value, Failure> {
        self.sent += 1;
        let request = http::post(path, agent, &format!("s-{}", self.sent), &payload.to_string());
        let exchange = async {
            self.stream.write_all(&request).await?;
            let mut answer = Vec::new();
            loop {
                if self.stream.read_buf(&mut answer).await? == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
                if let Some((status, _, total)) = http::head(&answer)
                    && answer.len() >= total
                {
                    return Ok((status, answer));
                }
            }
        };
        let (status, answer): (u16, Vec<u8>) =
            exchange.await.map_err(|error: std::io::Error| {
                Failure::caused(format!("cannot send to {path}"), &error)
            })?;
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
        let body = serde_json::from_slice(answer.get(body..).unwrap_or_default());
        match (status, body) {
            (200, Ok(body)) => Ok(body),
            _ => Err(Failure::new(format!("{path} answered {status}"))),
        }
    }
}
