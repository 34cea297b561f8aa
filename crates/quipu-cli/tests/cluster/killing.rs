//! Nodes and servers are killed in the middle of writes. Nothing that was acknowledged is lost, nothing is done twice, all
//! agree in the end, and nobody has to help.

use quipu_testbed::{Cluster, EngineKind, Node};

use crate::support::{Load, settle, start};

#[test]
fn over_postgres_a_killed_node_and_a_killed_server_lose_nothing() {
    let mut cluster = start(EngineKind::Postgres);
    a_node_is_killed(&mut cluster);
    what_keeps_the_log_is_killed(&mut cluster, 2);
    everything_starts_at_the_same_time(&mut cluster);
}

#[test]
fn over_nats_a_killed_node_and_a_killed_leader_lose_nothing() {
    let mut cluster = start(EngineKind::Nats);
    a_node_is_killed(&mut cluster);
    what_keeps_the_log_is_killed(&mut cluster, 3);
    everything_starts_at_the_same_time(&mut cluster);
}

fn a_node_is_killed(cluster: &mut Cluster) {
    let field = "node-killed";
    let load = Load::start(cluster, field, 4);
    for victim in 0..3 {
        load.await_more(15);
        cluster.nodes[victim].kill();
        load.await_more(15);
        cluster.nodes[victim].run();
    }
    load.await_more(15);
    let written = load.end();
    assert!(written.was_told("lost"), "{:?}", written.refusals);
    written.is_there(cluster, field);
}

fn what_keeps_the_log_is_killed(cluster: &mut Cluster, times: usize) {
    let field = "server-killed";
    let load = Load::start(cluster, field, 4);
    for _ in 0..times {
        load.await_more(15);
        cluster.engine.await_whole(field);
        let leader = cluster.engine.leader(field).unwrap();
        cluster.engine.kill(leader);
        // Of three servers two go on.
        if cluster.engine.ports().len() > 1 {
            load.await_more(10);
        }
        cluster.engine.run(leader);
        load.await_more(15);
    }
    let written = load.end();
    println!("{:#?}", written.refusals);
    written.is_there(cluster, field);
}

/// As after a power cut: a node waits for servers that are still looking for each other.
fn everything_starts_at_the_same_time(cluster: &mut Cluster) {
    let field = "server-killed";
    let before = settle(cluster, field);
    cluster.nodes.iter_mut().for_each(Node::kill);
    let servers = cluster.engine.ports().len();
    (0..servers).for_each(|at| cluster.engine.kill(at));
    (0..servers).for_each(|at| cluster.engine.run(at));
    cluster.nodes.iter_mut().for_each(Node::run);
    assert_eq!(settle(cluster, field), before);
}
