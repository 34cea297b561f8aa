//! What servers must guarantee before they are trusted with a log: that they sync to disk before they acknowledge.
//!
//! The client protocol does not state this, so each server is asked at its monitoring port. As many servers as the
//! cluster has must answer: a single one that syncs late is enough to lose acknowledged commits.

use std::{collections::BTreeMap, time::Duration};

use async_nats::Client;
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{address::Address, message::PART_BYTES};
use crate::open_error::{Cause, OpenError};

/// How long a server may take to state its configuration.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer of a monitoring port. Anything longer is not from a NATS server.
const ANSWER_BYTES: u64 = 4 * 1024 * 1024;
/// The bytes of a message that are reserved for its headers.
const ROOM_BESIDE: usize = 4096;
/// With at least this many servers, each message is kept by three of them.
const CLUSTER: usize = 3;

#[derive(Debug, Deserialize)]
struct Varz {
    server_id: String,
    #[serde(default)]
    jetstream: JetStream,
}

#[derive(Debug, Default, Deserialize)]
struct JetStream {
    #[serde(default)]
    config: Option<Config>,
    #[serde(default)]
    meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
struct Config {
    #[serde(default)]
    sync_always: bool,
}

#[derive(Debug, Deserialize)]
struct Meta {
    #[serde(default)]
    cluster_size: usize,
}

/// Refuses servers that could lose acknowledged messages. Returns the number of replicas for new streams.
pub(super) async fn check(client: &Client, address: &Address) -> Result<usize, OpenError> {
    let unfit = |reason: String, advice: &str| OpenError::Unfit {
        server: address.display.clone(),
        reason,
        advice: advice.to_owned(),
    };
    let server = client.server_info();
    if !client.is_server_compatible(2, 12, 0) {
        let reason = format!("it is nats-server {}, without atomic batches", server.version);
        return Err(unfit(reason, "use nats-server 2.12 or newer"));
    }
    if client.max_payload() < PART_BYTES + ROOM_BESIDE {
        let reason = format!("its max_payload is {} bytes", server.max_payload);
        return Err(unfit(reason, "put `max_payload: 1MB` into the servers' configuration"));
    }
    if address.monitors.is_empty() {
        return Err(unfit(
            "nothing tells whether it syncs before it acknowledges".to_owned(),
            "put `http: 127.0.0.1:8222` or another address into each server's configuration, and name them all in \
             --log: nats://host:4222?monitor=http://host:8222,http://host2:8222",
        ));
    }
    let mut seen = BTreeMap::new();
    for monitor in &address.monitors {
        let varz = ask(monitor).await.map_err(|source| OpenError::Unreachable {
            server: format!("http://{monitor}/varz"),
            source,
        })?;
        let Some(config) = &varz.jetstream.config else {
            let reason = format!("the server at {monitor} has no JetStream");
            return Err(unfit(
                reason,
                "put `jetstream { sync_interval: always }` into its configuration",
            ));
        };
        if !config.sync_always {
            let reason = format!(
                "the server at {monitor} acknowledges before it syncs, so a crash can lose what was acknowledged"
            );
            return Err(unfit(
                reason,
                "put `sync_interval: always` into the jetstream block of every server's configuration and restart it",
            ));
        }
        seen.insert(varz.server_id, varz.jetstream.meta.map_or(1, |meta| meta.cluster_size));
    }
    // A server that has just started may not know the size of its cluster yet.
    let servers = seen.values().copied().max().unwrap_or(1).max(seen.len());
    if seen.len() < servers {
        let reason = format!("of its {servers} servers only {} tell whether they sync", seen.len());
        return Err(unfit(
            reason,
            "name the monitoring port of each server in --log, separated by commas",
        ));
    }
    Ok(if servers >= CLUSTER { CLUSTER } else { 1 })
}

/// Written by hand: a single request without a body needs no library.
async fn ask(monitor: &str) -> Result<Varz, Cause> {
    let asked = timeout(PATIENCE, async {
        let mut stream = TcpStream::connect(monitor).await?;
        let request = format!("GET /varz HTTP/1.0\r\nHost: {monitor}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    });
    let answer = asked.await.map_err(|_| "no answer in time")??;
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
    let body = body.and_then(|at| answer.get(at..)).ok_or("the answer is not HTTP")?;
    Ok(serde_json::from_slice(body)?)
}
