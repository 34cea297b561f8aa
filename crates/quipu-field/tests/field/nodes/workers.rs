//! What each node does on its own account is done once for all of them.

use std::sync::{Arc, atomic::Ordering};

use quipu_core::Origin;
use quipu_field::Field;
use quipu_log::{Engine, FieldName, Head, MemoryEngine, verify_chain};
use serde_json::{Value, json};

use super::cluster::open;
use crate::{
    coordinate::Clockwork,
    coordination::{from, make},
    detect::{detect, with_detector},
    support::{eventually, message, record, register},
};

/// How many events of a kind a log holds.
fn count(log: &MemoryEngine, is_it: impl Fn(&Value) -> bool) -> usize {
    let mut found = 0;
    verify_chain(log, &FieldName::default_field(), Head::EMPTY, &mut |commit| {
        let header = commit.decode_header::<Value>()?;
        found += header.events.iter().filter(|sealed| is_it(&sealed.event)).count();
        Ok(())
    })
    .unwrap();
    found
}

fn on(log: &Arc<MemoryEngine>) -> Arc<dyn Engine> {
    Arc::<MemoryEngine>::clone(log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_runs_out_once_however_many_nodes_notice() {
    let (log, clock) = (Arc::new(MemoryEngine::shared()), Arc::new(Clockwork::default()));
    let nodes: [Arc<Field>; 3] =
        [(); 3].map(|()| open(on(&log), Arc::clone(&clock) as Arc<dyn Origin>));
    register(&nodes[0], "a").await.unwrap();
    for number in 0..8 {
        let lease = json!({"assignee": "a", "lease_ms": 1000});
        make(&nodes[0], from("a", None), &format!("t{number}"), lease).await;
    }
    let head = log.head(&FieldName::default_field()).unwrap();
    for node in &nodes {
        node.await_position(head.position).await.unwrap();
    }
    clock.now.store(1000, Ordering::Relaxed);
    nodes.iter().for_each(|node| node.expire_leases());
    let ended = |event: &Value| event.to_string().contains("expired");
    eventually("the leases ran out", || count(&log, ended) == 8).await;
    for node in &nodes {
        // Behind whatever the node had queued.
        register(node, "a").await.unwrap();
        register(node, &format!("b{:p}", Arc::as_ptr(node))).await.unwrap();
    }
    assert_eq!(count(&log, ended), 8, "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_that_two_nodes_find_is_noted_once() {
    let log = Arc::new(MemoryEngine::shared());
    let (one, other) = (with_detector(&on(&log)), with_detector(&on(&log)));
    register(&one, "a").await.unwrap();
    for content in ["23%", "14%"] {
        record(&one, message(content, "a"), content, json!([])).await.unwrap();
    }
    other.await_position(3).await.unwrap();
    let scan = json!({"mode": "scan"});
    let (first, second) = tokio::join!(detect(&one, scan.clone()), detect(&other, scan));
    assert_eq!((first.unwrap().conflicts.len(), second.unwrap().conflicts.len()), (1, 1));
    assert_eq!(count(&log, |event| event["kind"] == "conflict.detected"), 1);
    let head = log.head(&FieldName::default_field()).unwrap().position;
    one.await_position(head).await.unwrap();
    other.await_position(head).await.unwrap();
    assert_eq!(one.state_hash(), other.state_hash());
}
