//! Nodes as a client and an operator see them.

use std::{collections::BTreeSet, path::Path, process::Command, thread};

use quipu_testbed::{Answer, Client, Cluster, EngineKind, wait_until};
use serde_json::{Value, json};

/// The binary that is tested.
pub(crate) const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

/// Three nodes over servers of a kind.
pub(crate) fn start(kind: EngineKind) -> Cluster {
    Cluster::start(Path::new(QUIPU), kind, 3)
}

/// A client of a node, for a Field.
pub(crate) fn speak(cluster: &Cluster, node: usize, field: &str) -> Client {
    let address = cluster.nodes[node].address();
    Client::connect(address).expect("the node listens").with_header("quipu-field", field)
}

/// A committed finding.
pub(crate) fn finding(content: &str) -> Value {
    json!({"mode": "committed", "type": "finding", "content": content,
           "intent": {"purpose": "to test"},
           "confidence": {"score": 0.8, "reasoning": "we wrote it"}})
}

/// Registers an agent at a node.
pub(crate) fn register(cluster: &Cluster, node: usize, field: &str, agent: &str) {
    speak(cluster, node, field).register(agent, "tester");
}

/// Records a finding at a node; gives the unit's id and where the log is then.
#[track_caller]
pub(crate) fn record(cluster: &Cluster, node: usize, field: &str, text: &str) -> (String, u64) {
    let answer = speak(cluster, node, field).operate("RECORD", "a", finding(text));
    let id = answer.ok()["memory_unit_id"].as_str().unwrap().to_owned();
    (id, position(&answer))
}

/// How far the log has come where an answer was made.
pub(crate) fn position(answer: &Answer) -> u64 {
    answer.header("quipu-position").unwrap().parse().unwrap()
}

/// Does one thing for each node, all at the same time.
pub(crate) fn at_once<T: Send>(nodes: usize, act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let act = &act;
        let acting: Vec<_> = (0..nodes).map(|node| scope.spawn(move || act(node))).collect();
        acting.into_iter().map(|each| each.join().unwrap()).collect()
    })
}

/// Where a node says that the log is: position and hash.
fn head(cluster: &Cluster, node: usize, field: &str) -> Option<(u64, String)> {
    let mut client = Client::connect(cluster.nodes[node].address()).ok()?;
    client = client.with_header("quipu-field", field);
    let answer = client.try_request("GET", "/v1/field/status", b"").ok()?;
    let status = (answer.status == 200).then(|| answer.json())?;
    Some((status["position"].as_u64()?, status["head"].as_str()?.to_owned()))
}

/// Waits until all nodes are at the same place of the log, and says where.
pub(crate) fn settle(cluster: &Cluster, field: &str) -> (u64, String) {
    wait_until(60, "all nodes are at the same place", || {
        let heads: BTreeSet<_> =
            (0..cluster.nodes.len()).map(|node| head(cluster, node, field)).collect();
        (heads.len() == 1).then(|| heads.into_iter().next().flatten())?
    })
}

/// What `quipu verify` says of a Field's log, past all nodes.
pub(crate) fn verify(cluster: &Cluster, field: &str) -> Value {
    let url = cluster.engine.url();
    let arguments = ["verify", "--json", "--field", field, "--log", &url];
    let output = Command::new(QUIPU).args(arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    report["fields"][0].clone()
}

/// The units that a node tells of.
pub(crate) fn units(cluster: &Cluster, node: usize, field: &str) -> BTreeSet<String> {
    let (mut client, mut found) = (speak(cluster, node, field), BTreeSet::new());
    loop {
        let page = client.get(&format!("/v1/units?limit=200&skip={}", found.len())).ok();
        let units = page["units"].as_array().unwrap();
        if units.is_empty() {
            return found;
        }
        found.extend(units.iter().map(|unit| unit["id"].as_str().unwrap().to_owned()));
    }
}

/// What a node says of every commit and of everything that rests on them.
fn told(cluster: &Cluster, node: usize, field: &str) -> Value {
    let mut client = speak(cluster, node, field);
    let mut told = json!({"units": units(cluster, node, field)});
    let mut commits = Vec::new();
    loop {
        let from = commits.len() + 1;
        let page = client.get(&format!("/v1/log?from={from}&limit=1000")).ok();
        let page = page["commits"].as_array().unwrap().clone();
        if page.is_empty() {
            break;
        }
        commits.extend(page);
    }
    told["log"] = commits.into();
    for path in ["/v1/agents", "/v1/conflicts", "/v1/field/status"] {
        told[path] = client.get(path).ok();
    }
    told
}

/// Checks that all nodes are at the same place, tell the same of every commit and of the state, and that the log
/// proves itself up to there. Gives what `quipu verify` found.
#[track_caller]
pub(crate) fn agree(cluster: &Cluster, field: &str) -> Value {
    let (position, hash) = settle(cluster, field);
    let verified = verify(cluster, field);
    assert_eq!(verified["ok"], true, "{verified}");
    assert_eq!((&verified["commits"], &verified["head"]), (&json!(position), &json!(hash)));
    let first = told(cluster, 0, field);
    for node in 1..cluster.nodes.len() {
        let other = told(cluster, node, field);
        for (what, said) in first.as_object().unwrap() {
            assert_eq!(said, &other[what], "nodes 0 and {node} disagree on {what}");
        }
    }
    verified
}
