//! The end of a run: reads the log from every node until all have the same.

use std::{net::SocketAddr, time::Duration};

use crate::{
    clock::{Clock, pause},
    http::{HttpRequest, send},
    judge::{log::Entry, violation::Violation},
};

const PAGE: u64 = 500;
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The logs that the nodes returned.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) logs: Vec<Vec<Entry>>,
    /// Set if a node does not answer, stays behind, or returns a commit whose hash is wrong.
    pub(crate) unhealed: Option<Violation>,
}

/// Reads the log from every node until all of them return the same, at least up to `position`, or the time is up.
pub(crate) fn settle(
    nodes: &[SocketAddr],
    field: &str,
    position: u64,
    settling: Duration,
) -> Settled {
    let clock = Clock::start();
    loop {
        let logs: Vec<_> = nodes.iter().map(|node| whole_log(*node, field, position)).collect();
        let ends: Vec<_> = logs.iter().map(|log| log.as_ref().ok().map(Vec::len)).collect();
        let same = ends.iter().all(|end| end.is_some() && *end == ends[0]);
        if same || clock.is_past(settling) {
            let failed = logs.iter().enumerate().find_map(|(node, log)| {
                let why = log.as_ref().err()?;
                Some(Violation::new("healing", format!("node {node}: {why}")))
            });
            let apart = || Violation::new("healing", format!("the nodes are apart: {ends:?}"));
            let unhealed = (!same).then(|| failed.unwrap_or_else(apart));
            return Settled { logs: logs.into_iter().filter_map(Result::ok).collect(), unhealed };
        }
        pause(Duration::from_millis(100));
    }
}

fn whole_log(node: SocketAddr, field: &str, position: u64) -> Result<Vec<Entry>, String> {
    let mut log: Vec<Entry> = Vec::new();
    loop {
        let from = log.last().map_or(0, |entry| entry.position) + 1;
        let path = format!("/v1/log?from={from}&limit={PAGE}");
        let headers =
            vec![("Quipu-Field", field.to_owned()), ("Quipu-Min-Position", position.to_string())];
        let reply = send(node, &HttpRequest { method: "GET", path, headers, body: None }, PATIENCE);
        let reply = reply.map_err(|error| error.to_string())?;
        let commits = reply.body["commits"].as_array();
        let commits = commits.ok_or_else(|| format!("{} {}", reply.status, reply.body))?;
        for commit in commits {
            log.push(Entry::read(commit)?);
        }
        if reply.body["next_from"].is_null() || commits.is_empty() {
            return Ok(log);
        }
    }
}
