//! What a client may rely on when it moves between nodes.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
};

use quipu_core::Origin;
use quipu_field::Field;
use quipu_log::{Engine, FieldName, Head, MemoryEngine, verify_chain};
use quipu_wire::{ErrorCode, akashik::AttunePayload};
use serde_json::{Value, json};

use super::cluster::{Cluster, Turns, Way, open};
use crate::{
    compact::compact,
    coordinate::Clockwork,
    support::{self, eventually, message, record, register},
};

async fn poll(field: &Arc<Field>, since: u64) -> (Vec<String>, u64) {
    let scope = json!({"role": "watcher", "max_units": 1000});
    let asked = json!({"scope": scope, "since_epoch": since, "format": "ids_only"});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let mut from = message("poll", "watcher");
    from.epoch = since;
    let answer = field.attune(from, payload).await.unwrap();
    (answer.record.iter().map(|unit| unit.memory_unit.id().to_owned()).collect(), answer.epoch)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polling_any_node_beside_writers_on_others_sees_each_unit_exactly_once() {
    let cluster = Cluster::of(3, 1, false);
    for agent in ["w0", "w1", "watcher"] {
        register(&cluster.nodes[0], agent).await.unwrap();
    }
    cluster.settle().await;
    let writers = [0, 1].map(|writer| {
        let node = Arc::clone(&cluster.nodes[writer]);
        tokio::spawn(async move {
            let (agent, mut recorded) = (format!("w{writer}"), BTreeSet::new());
            for number in 0..60 {
                let from = message(&format!("{agent}-{number}"), &agent);
                let text = format!("unit {number} of {agent}");
                recorded
                    .insert(record(&node, from, &text, json!([])).await.unwrap().memory_unit_id);
            }
            recorded
        })
    });
    let (mut seen, mut since, mut at) = (Vec::new(), 0, 0);
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        // Each node is asked what it has not told yet, with what it has told: it may lag, never miss.
        let node = &cluster.nodes[2];
        node.await_position(at).await.unwrap();
        let (new, epoch) = poll(node, since).await;
        assert!(epoch >= since, "the clock went back");
        at = node.head().position;
        seen.extend(new);
        since = epoch;
    }
    let mut recorded = BTreeSet::new();
    for writer in writers {
        recorded.extend(writer.await.unwrap());
    }
    cluster.settle().await;
    // Whatever node is asked last.
    seen.extend(poll(&cluster.nodes[1], since).await.0);
    assert_eq!(seen.len(), recorded.len(), "a unit was missed or repeated");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), recorded);
    let reads = cluster.log.head(&FieldName::default_field()).unwrap().position;
    assert_eq!(reads, 123, "reads that bring what they were told write nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_rests_on_what_all_nodes_wrote() {
    let cluster = Cluster::of(2, 2, false);
    let [one, other] = [&cluster.nodes[0], &cluster.nodes[1]];
    register(one, "a").await.unwrap();
    for number in 0..20 {
        let unit = record(one, message(&format!("m{number}"), "a"), "a ship", json!([])).await;
        let against = json!([{"type": "supports", "target_id": unit.unwrap().memory_unit_id}]);
        // The other node is asked at once, and nobody has told it to wait.
        let from = message(&format!("n{number}"), "a");
        record(other, from, "the same ship", against).await.unwrap();
    }
    let head = other.head();
    register(other, "a").await.unwrap();
    assert_eq!(other.head(), head, "the same message again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_that_one_node_told_is_known_to_the_next() {
    let cluster = Cluster::of(2, 3, false);
    register(&cluster.nodes[0], "watcher").await.unwrap();
    cluster.settle().await;
    let (_, told) = poll(&cluster.nodes[0], 0).await;
    let (_, next) = poll(&cluster.nodes[1], told + 40).await;
    assert_eq!(next, told + 41);
    let from = message("m", "watcher");
    let unit = record(&cluster.nodes[0], from, "later", json!([])).await.unwrap();
    assert!(unit.epoch >= next, "{} was told, {} was given", next, unit.epoch);
}

#[tokio::test]
async fn a_position_that_a_log_of_one_node_does_not_have_is_told_at_once() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = support::open(&engine, None);
    register(&field, "a").await.unwrap();
    field.await_position(1).await.unwrap();
    let refused = field.await_position(2).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidPayload);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_in_a_log_never_goes_back_whatever_the_clocks_say() {
    let log = Arc::new(MemoryEngine::shared());
    let clocks = [5_000, 1_000].map(|now| {
        let clock = Arc::new(Clockwork::default());
        clock.now.store(now, Ordering::Relaxed);
        clock
    });
    let nodes = clocks.each_ref().map(|clock| {
        let engine: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(&log);
        open(engine, Arc::clone(clock) as Arc<dyn Origin>)
    });
    for (number, node) in [0, 1, 0, 1].into_iter().enumerate() {
        register(&nodes[node], &format!("agent-{number}")).await.unwrap();
    }
    clocks[0].now.store(10, Ordering::Relaxed);
    register(&nodes[0], "after-the-jump").await.unwrap();
    clocks[1].now.store(7_000, Ordering::Relaxed);
    register(&nodes[1], "later").await.unwrap();
    let mut times = Vec::new();
    verify_chain(log.as_ref(), &FieldName::default_field(), Head::EMPTY, &mut |commit| {
        times.push(commit.decode_header::<Value>()?.time_ms);
        Ok(())
    })
    .unwrap();
    assert_eq!(times, [5_000, 5_000, 5_000, 5_000, 5_000, 7_000]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_that_one_node_decided_is_finished_by_another() {
    let cluster = Cluster::of(2, 4, false);
    register(&cluster.nodes[0], "a").await.unwrap();
    record(&cluster.nodes[0], message("m", "a"), "a secret", json!([])).await.unwrap();
    cluster.settle().await;
    let has_text = || {
        let page = cluster.log.read(&FieldName::default_field(), 2, 1).unwrap();
        page[0].body(0).is_some()
    };
    assert!(has_text());
    // The node dies behind its tombstone: it cannot erase any more.
    cluster.ways[0].erases.store(false, Ordering::Relaxed);
    let purge = json!({"strategy": "purge", "reason": "asked for",
                       "filter": {"types": ["finding"]}});
    compact(&cluster.nodes[0], "purge", purge).await.unwrap_err();
    eventually("the text is erased", || !has_text()).await;
    assert_eq!(cluster.nodes[1].health().failure(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_shows_what_others_append_while_it_waits_for_its_own_turn() {
    let (log, turns) = (Arc::new(MemoryEngine::shared()), Arc::<Turns>::default());
    let way = |node, turns| Arc::new(Way::new(&log, node, turns));
    let (hurried, patient, idle) = (way(1, None), way(2, Some(&turns)), way(3, Some(&turns)));
    let other = open(Arc::<Way>::clone(&hurried), Arc::new(quipu_field::SystemOrigin));
    let node = open(Arc::<Way>::clone(&patient), Arc::new(quipu_field::SystemOrigin));
    register(&other, "a").await.unwrap();
    node.await_position(1).await.unwrap();
    let field = FieldName::default_field();
    idle.take_turn(&field, &node.head()).unwrap();
    let waiting = tokio::spawn({
        let node = Arc::clone(&node);
        async move { record(&node, message("late", "a"), "what waits", json!([])).await }
    });
    eventually("its writer waits", || patient.asked.load(Ordering::Relaxed) > 0).await;
    for number in 0..3 {
        let from = message(&format!("m-{number}"), "a");
        record(&other, from, "what does not wait", json!([])).await.unwrap();
    }
    eventually("the others are shown", || node.head() == other.head()).await;
    assert!(!waiting.is_finished(), "its own RECORD waits for its turn");
    idle.end_turn(&field);
    waiting.await.unwrap().unwrap();
    assert_eq!(node.head().position, 5);
    other.await_position(5).await.unwrap();
    assert_eq!((node.head(), node.state_hash()), (other.head(), other.state_hash()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_only_followed_for_long_writes_on_what_it_followed() {
    let cluster = Cluster::of(2, 7, true);
    register(&cluster.nodes[0], "a").await.unwrap();
    let (busy, quiet) = (&cluster.nodes[0], &cluster.nodes[1]);
    quiet.await_position(1).await.unwrap();
    let sent = |node: &Arc<Field>, id: String| {
        let node = Arc::clone(node);
        async move { record(&node, message(&id, "a"), "a text", json!([])).await.unwrap() }
    };
    // It has a state of its own from then on, because several wait for one batch.
    let first: Vec<_> = (0..8).map(|at| tokio::spawn(sent(quiet, format!("q-{at}")))).collect();
    for one in first {
        one.await.unwrap();
    }
    for number in 0..700 {
        sent(busy, format!("b-{number}")).await;
    }
    let last: Vec<_> = (0..8).map(|at| tokio::spawn(sent(quiet, format!("r-{at}")))).collect();
    for one in last {
        one.await.unwrap();
    }
    cluster.settle().await;
    assert_eq!(quiet.health().failure(), None);
    assert_eq!((busy.head(), busy.state_hash()), (quiet.head(), quiet.state_hash()));
    assert_eq!(quiet.head().position, 1 + 8 + 700 + 8);
}
