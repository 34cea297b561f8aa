//! The disk of the server that keeps the log is full.

use std::path::Path;

use quipu_testbed::{
    Client, Cluster, EngineServers, Message, PostgresServer, SmallDisk, wait_until,
};

use crate::support::{Load, QUIPU, agree, finding, register, units};

const MEGABYTES: usize = 120;

#[test]
fn over_postgres_a_full_disk_is_told_and_writes_go_on_when_there_is_room() {
    let Some(server) = PostgresServer::on_small_disk(MEGABYTES) else {
        println!("skipped: only root may mount a small disk");
        return;
    };
    let cluster = Cluster::over(EngineServers::Postgres(server), Path::new(QUIPU), 3);
    let field = "full";
    register(&cluster, 0, field, "a");
    let load = Load::start(&cluster, field, 3);
    load.await_more(10);
    disk(&cluster).fill();
    let told = wait_until(60, "a node says that the disk is full", || {
        // Large enough that no room which the database has left will do.
        let message = Message::new("RECORD", "a", finding(&words(4000)));
        let client = Client::connect(cluster.nodes[1].address()).ok()?;
        let answer = client.with_header("quipu-field", field).try_send(&message).ok()?;
        (answer.status != 200).then(|| answer.text())
    });
    assert!(told.contains("STORAGE_FULL"), "{told}");
    disk(&cluster).free();
    load.await_more(10);
    let written = load.end();
    agree(&cluster, field);
    let there = units(&cluster, 0, field);
    assert!(there.is_superset(&written.units), "{:?}", written.refusals);
}

fn disk(cluster: &Cluster) -> &SmallDisk {
    let EngineServers::Postgres(server) = &cluster.engine else { panic!("it is PostgreSQL") };
    server.disk().unwrap()
}

/// Words that cannot be made smaller by much.
fn words(count: u64) -> String {
    let mut state = 7_u64;
    let mut word = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:x}", state >> 16)
    };
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}
