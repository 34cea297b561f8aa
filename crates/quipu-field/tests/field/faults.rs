//! What a Field does when its engine cannot write: it says so, it tells nobody of what did not happen,
//! and reads go on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use quipu_log::{Commit, Engine, EngineError, FieldName, Head, MemoryEngine, conformance::Altered};
use quipu_wire::{ErrorCode, akashik::AttunePayload};
use serde_json::json;

use crate::{
    coordination::coordinate,
    support::{message, open, record, register},
};

/// An engine whose disk is full, or fails, or whose server is away, when told so.
#[derive(Debug, Default)]
struct FaultyEngine {
    inner: Arc<MemoryEngine>,
    full: AtomicBool,
    broken: AtomicBool,
    away: AtomicBool,
    /// Held while it does not answer.
    silent: tokio::sync::Mutex<()>,
}

impl Altered for FaultyEngine {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::<MemoryEngine>::clone(&self.inner)
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        drop(self.silent.blocking_lock());
        if self.full.load(Ordering::SeqCst) {
            return Err(EngineError::Full);
        }
        if self.broken.load(Ordering::SeqCst) {
            let source = std::io::Error::other("the disk is gone").into();
            return Err(EngineError::Io { action: "append".to_owned(), source });
        }
        if self.away.load(Ordering::SeqCst) {
            let source = std::io::Error::other("connection refused").into();
            return Err(EngineError::Unavailable { action: "append".to_owned(), source });
        }
        self.inner.append(field, expected, batch)
    }
}

#[tokio::test]
async fn nobody_is_told_of_what_a_full_disk_prevented() {
    let faulty = Arc::new(FaultyEngine::default());
    let engine: Arc<dyn Engine> = Arc::<FaultyEngine>::clone(&faulty);
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let (head, state) = (field.head(), field.state_hash());
    faulty.full.store(true, Ordering::SeqCst);
    let sent: Vec<_> = (0..16)
        .map(|number| {
            let field = Arc::clone(&field);
            tokio::spawn(async move {
                let payload = json!({"id": "new", "role": format!("r{number}")});
                let payload = quipu_wire::akashik::RegisterPayload::parse(payload).unwrap().0;
                field.register(message(&format!("r{number}"), "new"), payload).await
            })
        })
        .collect();
    for one in sent {
        let error = one.await.unwrap().unwrap_err();
        assert_eq!(error.code(), ErrorCode::StorageFull, "{error}");
    }
    assert_eq!((field.head(), field.state_hash()), (head, state));
    faulty.full.store(false, Ordering::SeqCst);
    register(&field, "new").await.unwrap();
    assert_eq!(field.state_hash(), open(&engine, None).state_hash());
}

#[tokio::test]
async fn writes_go_on_when_a_log_that_was_away_is_back() {
    let faulty = Arc::new(FaultyEngine::default());
    let engine: Arc<dyn Engine> = Arc::<FaultyEngine>::clone(&faulty);
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let (head, state) = (field.head(), field.state_hash());
    faulty.away.store(true, Ordering::SeqCst);
    let refused = record(&field, message("m", "a"), "a ship", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FieldUnavailable);
    assert_eq!((field.head(), field.state_hash()), (head, state));
    assert_eq!(field.health().failure(), None);
    faulty.away.store(false, Ordering::SeqCst);
    record(&field, message("m", "a"), "a ship", json!([])).await.unwrap();
    assert_eq!(field.state_hash(), open(&engine, None).state_hash());
}

#[tokio::test]
async fn a_lease_that_ran_out_on_a_full_disk_is_noted_before_anything_else_when_there_is_room() {
    let faulty = Arc::new(FaultyEngine::default());
    let engine: Arc<dyn Engine> = Arc::<FaultyEngine>::clone(&faulty);
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let task = json!({"action": "create", "assignee": "a", "lease_ms": 1,
                      "task": {"id": "t", "title": "t", "intent": {"purpose": "p"}}});
    coordinate(&field, message("t", "a"), task).await.unwrap();
    let start = json!({"action": "start", "task_id": "t"});
    faulty.full.store(true, Ordering::SeqCst);
    for attempt in 0..3 {
        let from = message(&format!("s{attempt}"), "a");
        let full = coordinate(&field, from, start.clone()).await.unwrap_err();
        assert_eq!(full.code(), ErrorCode::StorageFull);
    }
    faulty.full.store(false, Ordering::SeqCst);
    let late = coordinate(&field, message("late", "a"), start).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::InvalidTransition, "the task is nobody's by now");
    record(&field, message("m", "a"), "a ship", json!([])).await.unwrap();
    assert_eq!(field.state_hash(), open(&engine, None).state_hash());
}

#[tokio::test]
async fn reads_go_on_after_a_failed_sync_however_many() {
    let faulty = Arc::new(FaultyEngine::default());
    let engine: Arc<dyn Engine> = Arc::<FaultyEngine>::clone(&faulty);
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    faulty.broken.store(true, Ordering::SeqCst);
    let failed = record(&field, message("m", "a"), "lost", json!([])).await.unwrap_err();
    assert_eq!(failed.code(), ErrorCode::FieldUnavailable);
    faulty.broken.store(false, Ordering::SeqCst);
    let refused = record(&field, message("m", "a"), "later", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FieldUnavailable, "poisoned until it is opened again");
    assert!(field.health().failure().unwrap().contains("the disk is gone"));
    let mut told = 0;
    for _ in 0..3000 {
        let scope = json!({"scope": {"role": "r", "max_units": 1}});
        let (payload, _) = AttunePayload::parse(scope).unwrap();
        let mut from = message("look", "a");
        from.epoch = told;
        told = field.attune(from, payload).await.unwrap().epoch;
    }
    let again = open(&engine, None);
    let accepted = record(&again, message("m", "a"), "after", json!([])).await.unwrap();
    assert!(accepted.epoch > told);
}

#[tokio::test]
async fn whoever_waits_for_a_log_that_does_not_answer_is_told_and_may_ask_again() {
    let faulty = Arc::new(FaultyEngine::default());
    let engine: Arc<dyn Engine> = Arc::<FaultyEngine>::clone(&faulty);
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let silence = faulty.silent.lock().await;
    // With nothing to do but wait, the time that is waited for comes at once.
    tokio::time::pause();
    let (first, second) = tokio::join!(
        record(&field, message("m1", "a"), "in the append", json!([])),
        record(&field, message("m2", "a"), "waits behind it", json!([])),
    );
    tokio::time::resume();
    for told in [first.unwrap_err(), second.unwrap_err()] {
        assert_eq!(told.code(), ErrorCode::FieldUnavailable);
        assert!(told.to_string().contains("is not known"), "{}", told.to_string());
    }
    drop(silence);
    for (id, text) in [("m1", "in the append"), ("m2", "waits behind it")] {
        record(&field, message(id, "a"), text, json!([])).await.unwrap();
    }
    assert_eq!(field.head().position, 3, "each happened once");
}
