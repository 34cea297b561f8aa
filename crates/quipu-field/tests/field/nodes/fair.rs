//! A node that others are faster than is not left out: whatever is sent to it is carried out while they go on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde_json::json;

use super::cluster::Cluster;
use crate::support::{message, record, register};

async fn a_slow_node_among_busy_ones(with_turns: bool) {
    let cluster = Cluster::of(3, 9, with_turns);
    for agent in ["a", "b"] {
        register(&cluster.nodes[0], agent).await.unwrap();
    }
    cluster.settle().await;
    let (done, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let busy: Vec<_> = (0..8)
        .map(|client| {
            let node = Arc::clone(&cluster.nodes[client % 2]);
            let (done, sent) = (Arc::clone(&done), Arc::clone(&sent));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let id = format!("busy-{}", sent.fetch_add(1, Ordering::Relaxed));
                    record(&node, message(&id, "a"), "many ships", json!([])).await.unwrap();
                }
            })
        })
        .collect();
    for number in 0..30 {
        let from = message(&format!("slow-{number}"), "b");
        record(&cluster.nodes[2], from, "one ship", json!([])).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for client in busy {
        client.await.unwrap();
    }
    let head = cluster.settle().await;
    assert_eq!(head.position, 32 + sent.load(Ordering::Relaxed), "nothing was done twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_node_gets_its_share_of_a_race() {
    a_slow_node_among_busy_ones(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_node_gets_its_turn() {
    a_slow_node_among_busy_ones(true).await;
}
