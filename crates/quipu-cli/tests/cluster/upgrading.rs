//! Nodes are stopped and started again one at a time, as for a new version, while clients write through all of them; and
//! a log in which a newer version has written.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use quipu_client::{
    Field,
    akashik::{MemoryType, RecordPayload},
};
use quipu_engines::{NatsEngine, PostgresEngine};
use quipu_log::{Draft, DraftEvent, Engine, FieldName};
use quipu_testbed::{Cluster, EngineKind, wait_until};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::support::{agree, record, register, settle, speak, start, units};

#[test]
fn over_postgres_nodes_are_upgraded_one_at_a_time_under_load() {
    are_upgraded(&mut start(EngineKind::Postgres));
}

#[test]
fn over_nats_nodes_are_upgraded_one_at_a_time_under_load() {
    are_upgraded(&mut start(EngineKind::Nats));
}

fn are_upgraded(cluster: &mut Cluster) {
    clients_notice_nothing(cluster);
    what_a_newer_version_wrote_is_refused_in_words(cluster);
}

/// What the clients share.
#[derive(Debug, Default)]
struct Progress {
    stop: AtomicBool,
    recorded: AtomicUsize,
}

/// A client that begins at one node, knows all of them, and takes every error as a failure.
async fn write(
    urls: Vec<String>,
    field: &str,
    name: String,
    progress: Arc<Progress>,
) -> Vec<String> {
    let mut connect = Field::connect(&urls[0]).field(field);
    for url in &urls[1..] {
        connect = connect.or_at(url);
    }
    let agent = connect.build().unwrap().agent(&name, "tester").unwrap();
    agent.join().await.unwrap();
    let mut recorded = Vec::new();
    while !progress.stop.load(Ordering::SeqCst) {
        let text = format!("finding {} of {name}", recorded.len());
        let payload = RecordPayload::committed(MemoryType::Finding, &text, "to test", 0.8, "seen");
        let unit = agent.record(&payload).await.unwrap().memory_unit_id;
        // Whichever node it is that answers now.
        assert!(agent.unit(&unit).await.is_ok());
        recorded.push(unit);
        progress.recorded.fetch_add(1, Ordering::SeqCst);
    }
    recorded
}

fn clients_notice_nothing(cluster: &mut Cluster) {
    let field = "upgraded";
    let (runtime, progress) = (Runtime::new().unwrap(), Arc::new(Progress::default()));
    let clients: Vec<JoinHandle<Vec<String>>> = (0..4)
        .map(|number| {
            let mut urls = cluster.urls();
            urls.rotate_left(number % 3);
            let (name, progress) = (format!("client-{number}"), Arc::clone(&progress));
            runtime.spawn(write(urls, "upgraded", name, progress))
        })
        .collect();
    let more = |count: usize| {
        let until = progress.recorded.load(Ordering::SeqCst) + count;
        wait_until(90, "more is recorded", || {
            let over = clients.iter().any(JoinHandle::is_finished);
            (over || progress.recorded.load(Ordering::SeqCst) >= until).then_some(())
        });
    };
    for node in &mut cluster.nodes {
        more(12);
        let ended = node.stop().unwrap();
        assert_eq!(ended.code, Some(0), "{}", ended.said);
        more(12);
        node.run();
    }
    more(12);
    progress.stop.store(true, Ordering::SeqCst);
    let mut recorded = BTreeSet::new();
    for client in clients {
        recorded.extend(runtime.block_on(client).unwrap());
    }
    agree(cluster, field);
    assert_eq!(units(cluster, 1, field), recorded);
}

/// Appends what this version does not know, as the next one would.
fn append_from_the_future(cluster: &Cluster, field: &str) {
    let (url, name) = (cluster.engine.url(), field.parse::<FieldName>().unwrap());
    let engine: Box<dyn Engine> = match url.starts_with("nats") {
        true => Box::new(NatsEngine::open(&url).unwrap()),
        false => Box::new(PostgresEngine::open(&url).unwrap()),
    };
    let head = engine.head(&name).unwrap();
    let draft = Draft::<Value> {
        epoch: head.epoch + 1,
        time_ms: 4_000_000_000_000,
        actor: "a".to_owned(),
        session: None,
        request: None,
        events: vec![DraftEvent {
            event: json!({"kind": "dream.dreamt", "of": "sheep"}),
            body: None,
        }],
    };
    let (commit, _) = draft.seal_with_header(head.position + 1, head.hash).unwrap();
    engine.append(&name, &head, &[commit]).unwrap();
}

fn what_a_newer_version_wrote_is_refused_in_words(cluster: &mut Cluster) {
    let field = "newer";
    register(cluster, 0, field, "a");
    record(cluster, 1, field, "known to all");
    let (position, _) = settle(cluster, field);
    append_from_the_future(cluster, field);
    for node in 0..3 {
        let told = wait_until(60, "the node says why", || {
            let ready = speak(cluster, node, field).get("/readyz").json();
            let fields = ready["fields"].as_array().unwrap().clone();
            let of_field = fields.into_iter().find(|each| each["name"] == field)?;
            of_field["reason"].as_str().map(str::to_owned)
        });
        let place = format!("position {}", position + 1);
        assert!(told.contains(&place) && told.contains("dream.dreamt"), "{told}");
        assert!(told.contains("a newer version wrote it"), "{told}");
        let refused =
            speak(cluster, node, field).operate("RECORD", "a", crate::support::finding("no"));
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert_eq!(units(cluster, node, field).len(), 1, "reads go on");
    }
}
