//! How far a follower is behind: something is recorded at one node, and another is asked where it is, again and again,
//! without asking it to wait, until it has come as far. What the asking itself takes is measured beside it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::json;

use crate::measure::{
    failure::Failure,
    http::{self, Connection},
    server::Server,
    stopwatch::{Samples, Stopwatch},
};

/// The pause between two measurements.
const PAUSE: Duration = Duration::from_millis(20);
/// The pause between two questions, so that the asking takes little of the cores that the nodes need. What is found is
/// too much by half of it.
const ASK_PAUSE: Duration = Duration::from_micros(500);

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Lag {
    /// From the answer of one node until another has come as far.
    pub(crate) behind: Samples,
    /// From the answer of one node until it has answered where it is.
    pub(crate) asked: Samples,
}

/// A probe that runs beside the load.
pub(crate) struct LagProbe {
    stop: Arc<AtomicBool>,
    running: JoinHandle<std::io::Result<Lag>>,
}

impl LagProbe {
    pub(crate) fn start(nodes: &[Server], field: &str) -> Result<Self, Failure> {
        let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
        let (stop, field) = (Arc::new(AtomicBool::new(false)), field.to_owned());
        let stopped = Arc::clone(&stop);
        let running = thread::Builder::new()
            .spawn(move || probe(&addresses, &field, &stopped))
            .map_err(|error| Failure::caused("no thread", &error))?;
        Ok(Self { stop, running })
    }

    pub(crate) fn stop(self) -> Result<Lag, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let lag = self.running.join().map_err(|_| Failure::new("the probe died"))?;
        lag.map_err(|error| Failure::caused("the probe failed", &error))
    }
}

fn probe(addresses: &[SocketAddr], field: &str, stop: &AtomicBool) -> std::io::Result<Lag> {
    let mut connections: Vec<Connection> =
        addresses.iter().map(|address| Connection::open(*address)).collect::<Result<_, _>>()?;
    let payload = json!({
        "mode": "committed", "type": "finding", "content": "The probe was here.",
        "intent": {"purpose": "to be seen elsewhere"},
        "confidence": {"score": 0.5, "reasoning": "it is a probe"},
    });
    let (payload, where_is) = (payload.to_string(), http::get_in(field, "/v1/agents", "probe"));
    let mut lag = Lag::default();
    let mut number: usize = 0;
    while !stop.load(Ordering::Relaxed) {
        let (writer, reader) = (number % connections.len(), (number + 1) % connections.len());
        number += 1;
        let record = http::post_in(field, "/v1/record", "probe", &format!("p-{number}"), &payload);
        let Some(position) = position_after(&mut connections, writer, &record)? else { continue };
        let watch = Stopwatch::start();
        while position_after(&mut connections, reader, &where_is)?.is_none_or(|at| at < position) {
            if stop.load(Ordering::Relaxed) {
                return Ok(lag);
            }
            thread::park_timeout(ASK_PAUSE);
        }
        lag.behind.push(watch.elapsed());
        let watch = Stopwatch::start();
        position_after(&mut connections, writer, &where_is)?;
        lag.asked.push(watch.elapsed());
        thread::park_timeout(PAUSE);
    }
    Ok(lag)
}

/// Where a node says it is when it answers.
fn position_after(
    connections: &mut [Connection],
    at: usize,
    request: &[u8],
) -> std::io::Result<Option<u64>> {
    let Some(connection) = connections.get_mut(at) else { return Ok(None) };
    connection.exchange(request)?;
    Ok(connection.header("quipu-position").and_then(|position| position.parse().ok()))
}
