//! What a node tells of its log: what it appends, what it follows, and who was faster.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quipu_field::Meter;
use quipu_log::MemoryEngine;
use serde_json::json;
use tokio::sync::Notify;

use super::cluster::{Turns, Way, open_metered};
use crate::support::{message, record, register};

#[derive(Debug, Default)]
struct Counts {
    commits: AtomicU64,
    conflicts: AtomicU64,
    turns: AtomicU64,
    followed: AtomicU64,
    /// Another one was followed.
    told: Notify,
}

impl Counts {
    fn read(&self) -> [u64; 4] {
        [&self.commits, &self.conflicts, &self.turns, &self.followed]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

impl Meter for Counts {
    fn appended(&self, commits: usize, _: Duration) {
        self.commits.fetch_add(u64::try_from(commits).unwrap(), Ordering::Relaxed);
    }

    fn conflicted(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    fn took_turn(&self, _: Duration) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    fn followed(&self, lag: Duration) {
        assert!(lag < Duration::from_secs(3600), "{lag:?} is no lag");
        self.followed.fetch_add(1, Ordering::Relaxed);
        self.told.notify_one();
    }
}

/// Two nodes record one after the other; answers what each counts, and the commits in the log.
async fn two_nodes(turns: Option<Arc<Turns>>) -> ([Arc<Counts>; 2], u64) {
    let log = Arc::new(MemoryEngine::shared());
    let counts: [Arc<Counts>; 2] = std::array::from_fn(|_| Arc::default());
    let nodes: Vec<_> = (1..)
        .zip(&counts)
        .map(|(node, counts)| {
            let way = Arc::new(Way::new(&log, node, turns.as_ref()));
            open_metered(way, Arc::<Counts>::clone(counts))
        })
        .collect();
    register(&nodes[0], "a").await.unwrap();
    let mut position = 1;
    for round in 0..20 {
        let node = &nodes[round % 2];
        node.await_position(position).await.unwrap();
        record(node, message(&format!("m-{round}"), "a"), "a text", json!([])).await.unwrap();
        position = node.head().position;
        assert!(node.announced_position() >= position);
    }
    for node in &nodes {
        node.await_position(position).await.unwrap();
    }
    (counts, position)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_node_did_not_append_it_followed() {
    let (counts, position) = two_nodes(None).await;
    let all = |count: usize| counts.iter().map(|counts| counts.read()[count]).sum::<u64>();
    assert_eq!(all(0), position, "every commit was appended by one");
    // A commit is counted once it is there for everybody, so whoever waited for it may look a moment too soon.
    while all(3) < position {
        tokio::select! {
            () = counts[0].told.notified() => {}
            () = counts[1].told.notified() => {}
        }
    }
    assert_eq!(all(3), position, "and followed by the other");
    assert_eq!(all(2), 0, "nobody kept turns");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_take_turns_count_them_and_are_not_in_conflict() {
    let (counts, position) = two_nodes(Some(Arc::default())).await;
    let [one, other] = counts.map(|counts| counts.read());
    assert_eq!(one[0] + other[0], position);
    assert!(one[2] > 0 && other[2] > 0, "each had turns: {one:?} {other:?}");
    assert!(one[1] + other[1] <= 2, "at most once each, before it knows of the other");
}
