//! Nodes whose clocks are wrong, and jump.

use quipu_testbed::{Cluster, EngineKind, faketime};
use serde_json::Value;

use crate::support::{Load, speak, start};

#[test]
fn over_postgres_time_goes_forward_whatever_the_clocks_say() {
    goes_forward(&mut start(EngineKind::Postgres));
}

const HOUR_MS: u64 = 3_600_000;

/// Two nodes get clocks of their own, one an hour ahead and one behind, which then jump.
fn goes_forward(cluster: &mut Cluster) {
    let files: Vec<_> = cluster.nodes.iter().map(|node| node.data().join("clock")).collect();
    for (node, offset) in [(1, "+3600"), (2, "-3600")] {
        faketime::set(&files[node], offset);
        cluster.nodes[node].options_mut().environment = faketime::environment(&files[node]);
        cluster.restart(node);
    }
    let field = "jumping";
    let load = Load::start(cluster, field, 3);
    load.await_more(20);
    faketime::set(&files[1], "-86400");
    faketime::set(&files[2], "+7200");
    load.await_more(20);
    let written = load.end();
    assert!(written.refusals.is_empty(), "{:?}", written.refusals);
    written.is_there(cluster, field);
    let log = speak(cluster, 0, field).get("/v1/log?limit=1000").ok();
    let commits = log["commits"].as_array().unwrap();
    let times: Vec<u64> = commits.iter().map(time).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[times.len() - 1] - times[0] > HOUR_MS, "the clocks were wrong: {times:?}");
}

fn time(commit: &Value) -> u64 {
    commit["header"]["time_ms"].as_u64().unwrap()
}
