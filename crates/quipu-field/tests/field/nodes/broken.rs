//! A log that is not the one that a node knows: the node applies nothing of it, takes no more writes, and says why.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use quipu_field::{Field, SystemOrigin};
use quipu_log::{Commit, Engine, EngineError, FieldName, Head, MemoryEngine, conformance::Altered};
use quipu_wire::ErrorCode;
use serde_json::json;

use super::cluster::open;
use crate::support::{eventually, message, record, register};

const HONEST: u8 = 0;
const DROPS: u8 = 1;
const REORDERS: u8 = 2;
const REWRITES: u8 = 3;
const HIDES: u8 = 4;
const AWAY: u8 = 5;
const STALE: u8 = 6;

/// An engine that does not give back what was appended, or whose log is replaced by another one.
#[derive(Debug)]
struct Broken {
    log: Mutex<Arc<MemoryEngine>>,
    lie: AtomicU8,
}

impl Broken {
    fn over(log: &Arc<MemoryEngine>) -> Arc<Self> {
        Arc::new(Self { log: Mutex::new(Arc::clone(log)), lie: AtomicU8::new(HONEST) })
    }

    fn log(&self) -> Arc<MemoryEngine> {
        Arc::clone(&self.log.lock().unwrap())
    }

    fn distort(&self, mut page: Vec<Commit>) -> Vec<Commit> {
        match self.lie.load(Ordering::Relaxed) {
            HIDES => page.clear(),
            DROPS if page.len() > 1 => drop(page.remove(0)),
            REORDERS if page.len() > 1 => page.swap(0, 1),
            REWRITES => {
                for commit in &mut page {
                    let header = String::from_utf8(commit.header.to_vec()).unwrap();
                    commit.header = header.replace("\"a\"", "\"b\"").into_bytes().into();
                }
            }
            _ => {}
        }
        page
    }
}

impl Altered for Broken {
    fn inner(&self) -> Arc<dyn Engine> {
        self.log()
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        if self.lie.load(Ordering::Relaxed) == AWAY {
            return Err(EngineError::Unavailable { action: "read".into(), source: "away".into() });
        }
        self.log().read(field, from, limit).map(|page| self.distort(page))
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        // It has not noticed yet: whoever looks must find out.
        if self.lie.load(Ordering::Relaxed) != HONEST {
            return Ok(Vec::new());
        }
        self.log().follow(field, from, timeout, limit)
    }

    fn take_turn(&self, field: &FieldName, known: &Head) -> Result<Option<Head>, EngineError> {
        // A node that has not heard of what others appended is told what it knows.
        if self.lie.load(Ordering::Relaxed) == STALE {
            return Ok(Some(*known));
        }
        self.log().take_turn(field, known)
    }
}

/// Two nodes, one of which has a broken way to the log, and three commits that both know.
async fn two_nodes() -> (Arc<MemoryEngine>, Arc<Broken>, Arc<Field>, Arc<Field>) {
    let log = Arc::new(MemoryEngine::shared());
    let broken = Broken::over(&log);
    let engine: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(&log);
    let sound = open(engine, Arc::new(SystemOrigin));
    let engine: Arc<dyn Engine> = Arc::<Broken>::clone(&broken);
    let deceived = open(engine, Arc::new(SystemOrigin));
    register(&sound, "a").await.unwrap();
    record(&sound, message("m1", "a"), "one", json!([])).await.unwrap();
    record(&sound, message("m2", "a"), "two", json!([])).await.unwrap();
    deceived.await_position(3).await.unwrap();
    (log, broken, sound, deceived)
}

async fn refuses(field: &Arc<Field>, id: &str) {
    let refused = record(field, message(id, "a"), "more", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FieldUnavailable);
    let reason = field.health().failure().unwrap();
    assert!(reason.starts_with("the log is not the one that this node knows"), "{reason}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_applies_nothing_of_a_log_that_lost_reordered_or_rewrote_commits() {
    for lie in [DROPS, REORDERS, REWRITES] {
        let (log, broken, sound, deceived) = two_nodes().await;
        let (head, state) = (deceived.head(), deceived.state_hash());
        // The node learns of both commits at once.
        broken.lie.store(HIDES, Ordering::Relaxed);
        for id in ["m3", "m4"] {
            record(&sound, message(id, "a"), id, json!([])).await.unwrap();
        }
        broken.lie.store(lie, Ordering::Relaxed);
        refuses(&deceived, "m5").await;
        assert_eq!(deceived.state_hash(), state, "lie {lie}");
        assert_eq!(deceived.head(), head);
        assert_eq!(log.head(&FieldName::default_field()).unwrap(), sound.head());
    }
}

/// The first commits of a log, as an older backup has them.
fn backup(log: &MemoryEngine, commits: usize) -> Arc<MemoryEngine> {
    let (older, field) = (MemoryEngine::shared(), FieldName::default_field());
    let page = log.read(&field, 1, commits).unwrap();
    older.append(&field, &Head::EMPTY, &page).unwrap();
    Arc::new(older)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_only_waits_notices_an_older_backup() {
    let (log, broken, _sound, deceived) = two_nodes().await;
    *broken.log.lock().unwrap() = backup(&log, 2);
    eventually("the backup is noticed", || deceived.health().failure().is_some()).await;
    refuses(&deceived, "m5").await;
    assert_eq!(broken.head(&FieldName::default_field()).unwrap().position, 2, "left as it is");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_writes_notices_an_older_backup_that_others_went_on_with() {
    let (log, broken, _sound, deceived) = two_nodes().await;
    let older = backup(&log, 2);
    let engine: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(&older);
    let other = open(engine, Arc::new(SystemOrigin));
    for number in 0..4 {
        let from = message(&format!("other-{number}"), "a");
        record(&other, from, "another history", json!([])).await.unwrap();
    }
    let state = deceived.state_hash();
    *broken.log.lock().unwrap() = older;
    refuses(&deceived, "m5").await;
    assert_eq!(deceived.state_hash(), state);
}

/// Found by a recorded history: a log that is away made a node say that an agent of another node is not registered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_look_does_not_say_that_an_agent_is_not_registered() {
    let (_log, broken, sound, deceived) = two_nodes().await;
    broken.lie.store(AWAY, Ordering::Relaxed);
    register(&sound, "b").await.unwrap();
    let refused = deceived.meet(&message("m3", "b")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FieldUnavailable);
    broken.lie.store(HONEST, Ordering::Relaxed);
    deceived.meet(&message("m3", "b")).await.unwrap();
    record(&deceived, message("m3", "b"), "three", json!([])).await.unwrap();
}

/// Found by a recorded history: nodes that tell each other whose turn it is may not have heard of everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_turn_tells_an_old_head_neither_refuses_nor_gives_up() {
    let (_log, broken, sound, deceived) = two_nodes().await;
    broken.lie.store(STALE, Ordering::Relaxed);
    for number in 0..3 {
        let id = format!("sound-{number}");
        let written = record(&sound, message(&id, "a"), &id, json!([])).await.unwrap();
        let on_it = json!([{"type": "supports", "target_id": written.memory_unit_id}]);
        let id = format!("deceived-{number}");
        record(&deceived, message(&id, "a"), &id, on_it).await.unwrap();
        sound.await_position(5 + 2 * number).await.unwrap();
    }
    assert_eq!(deceived.head(), sound.head());
}
