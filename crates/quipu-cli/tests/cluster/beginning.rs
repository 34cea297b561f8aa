//! A node that has nothing yet begins with a snapshot that another one left, and is then as the others are.

use std::fs;

use quipu_testbed::{Cluster, EngineKind, Node, wait_until};

use crate::support::{Load, speak, start};

/// Together more commits than a node reads from the log rather than looking for a snapshot.
const ROUNDS: usize = 9;
const COMMITS: usize = 300;

#[test]
fn over_postgres_a_new_node_begins_with_a_snapshot_of_another() {
    begins_with_a_snapshot(&mut start(EngineKind::Postgres));
}

#[test]
fn over_nats_a_new_node_begins_with_a_snapshot_of_another() {
    begins_with_a_snapshot(&mut start(EngineKind::Nats));
}

fn begins_with_a_snapshot(cluster: &mut Cluster) {
    let field = "grown";
    let left = tempfile::tempdir().unwrap();
    let stored_at = format!("file://{}", left.path().display());
    let options = cluster.nodes[0].options_mut();
    options.arguments.extend(["--snapshots".to_owned(), stored_at]);
    // Who put a Field away has made a snapshot of it.
    options.arguments.extend(["--field-idle".to_owned(), "1".to_owned()]);
    let options = options.clone();
    cluster.restart(0);
    let load = Load::start(cluster, field, 6);
    for _ in 0..ROUNDS {
        load.await_more(COMMITS);
    }
    let written = load.end();
    wait_until(60, "a snapshot is left", || {
        fs::read_dir(left.path().join(field)).ok()?.next()?.ok().map(|_| ())
    });
    cluster.nodes[2] = Node::new(options);
    cluster.nodes[2].run();
    written.is_there(cluster, field);
    let counts = speak(cluster, 2, field).get("/metrics").text();
    let fetched =
        counts.lines().find_map(|line| line.strip_prefix("quipu_snapshots_fetched_total "));
    assert!(fetched.is_some_and(|times| times != "0"), "{counts}");
}
