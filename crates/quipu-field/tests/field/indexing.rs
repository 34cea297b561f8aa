//! A Field that has much to read is opened before its texts are read: it takes writes and reads by id at once, and whoever asks by
//! words waits for the index, which is in the end as if all had been read first.

use std::{
    path::Path,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use quipu_core::origin::ScriptedOrigin;
use quipu_field::{Field, FieldError, FieldOptions, TextsBehind, snapshot::format};
use quipu_log::{
    Commit, Engine, EngineError, FieldName, MemoryEngine, StoredHeader, conformance::Altered,
};
use quipu_wire::{ErrorCode, akashik::AttunePayload};
use serde_json::{Value, json};

use crate::{
    compact::compact,
    support::{assert_same, message, rebuilt_at, record, record_of_session, register},
};

/// A log whose headers can be read, and whose texts only once somebody opens the gate.
#[derive(Debug)]
struct Gated {
    log: Arc<dyn Engine>,
    open: Mutex<bool>,
    opened: Condvar,
    trouble: Trouble,
    failures: AtomicUsize,
}

/// What is wrong with the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// They are gone.
    Damaged,
    /// The second page does not come at first.
    Away,
}

impl Gated {
    fn over(log: &Arc<dyn Engine>, trouble: Trouble) -> Arc<Self> {
        let (open, opened, failures) = (Mutex::default(), Condvar::new(), AtomicUsize::new(0));
        Arc::new(Self { log: Arc::clone(log), open, opened, trouble, failures })
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

impl Altered for Gated {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.log)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
        let away = self.trouble == Trouble::Away && from > 1;
        if away && self.failures.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(EngineError::Unavailable { action: "read".into(), source: "away".into() });
        }
        let mut page = self.log.read(field, from, limit)?;
        if self.trouble == Trouble::Damaged {
            page.iter_mut().for_each(|commit| commit.bodies.clear());
        }
        Ok(page)
    }

    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        self.log.read_headers(field, from, limit)
    }
}

fn open(engine: &Arc<dyn Engine>, later: u64, snapshots: Option<&Path>) -> Arc<Field> {
    let options = FieldOptions {
        index_later_commits: later,
        snapshot_commits: 20,
        snapshots: snapshots.map(Path::to_owned),
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

/// A log of two agents and so many units.
async fn written(units: usize) -> Arc<dyn Engine> {
    let log: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&log, u64::MAX, None);
    for agent in ["a", "b"] {
        register(&field, agent).await.unwrap();
    }
    record_of_session(&field, "north", 0..units).await;
    log
}

/// What an agent is given to read about ships.
async fn attune(field: &Arc<Field>) -> Result<Vec<Value>, FieldError> {
    let asked = json!({"scope": {"role": "sailor", "max_units": 9, "context_hint": "seven ships"}});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("attune", "b"), payload).await?;
    Ok(answer.record.iter().map(|unit| serde_json::to_value(unit).unwrap()).collect())
}

/// Closes a Field with a snapshot, and compares that with a rebuild.
async fn closes_with_all_it_should_have(field: &Arc<Field>, log: &Arc<dyn Engine>, at: &Path) {
    field.close().await;
    let files: Vec<_> = std::fs::read_dir(at).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("one snapshot: {files:?}") };
    let made = format::load(file).unwrap();
    assert_same(&made, &rebuilt_at(log, made.head.position));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_are_taken_before_the_texts_are_read_and_answers_are_as_ever() {
    let (log, folder) = (written(40).await, tempfile::tempdir().unwrap());
    let gated = Gated::over(&log, Trouble::None);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    assert_eq!(field.head(), log.head(&FieldName::default_field()).unwrap());
    record_of_session(&field, "south", 0..3).await;
    let asking = tokio::spawn({
        let field = Arc::clone(&field);
        async move { attune(&field).await.unwrap() }
    });
    record_of_session(&field, "east", 0..2).await;
    assert!(!asking.is_finished(), "nobody has read a text yet");
    let of = field.head().position;
    assert_eq!(field.texts_behind(), Some(TextsBehind { read: 0, of, failing: false }));
    gated.open();
    let answer = asking.await.unwrap();
    assert_eq!(field.texts_behind(), None);
    assert_eq!(answer.len(), 9);
    closes_with_all_it_should_have(&field, &log, folder.path()).await;
    let plain = open(&log, u64::MAX, None);
    assert_eq!(attune(&plain).await.unwrap(), answer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_purged_before_its_text_was_read_is_not_found() {
    let (log, folder) = (written(40).await, tempfile::tempdir().unwrap());
    let first = open(&log, u64::MAX, None);
    record_of_session(&first, "xylophone", 0..3).await;
    drop(first);
    let gated = Gated::over(&log, Trouble::None);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    let purge =
        json!({"strategy": "purge", "filter": {"session_id": "xylophone"}, "reason": "asked"});
    compact(&field, "c", purge).await.unwrap();
    gated.open();
    attune(&field).await.unwrap();
    closes_with_all_it_should_have(&field, &log, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_log_is_read_in_many_parts_while_it_grows_and_fails_now_and_then() {
    let (log, folder) = (written(1300).await, tempfile::tempdir().unwrap());
    let gated = Gated::over(&log, Trouble::Away);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    gated.open();
    record_of_session(&field, "south", 0..40).await;
    attune(&field).await.unwrap();
    assert!(gated.failures.load(Ordering::Relaxed) > 0);
    record_of_session(&field, "east", 0..3).await;
    closes_with_all_it_should_have(&field, &log, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_missing_stops_writes_and_whoever_waits_for_the_texts_is_told() {
    let log = written(40).await;
    let gated = Gated::over(&log, Trouble::Damaged);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, None);
    let asking = tokio::spawn({
        let field = Arc::clone(&field);
        async move { attune(&field).await.unwrap_err() }
    });
    record_of_session(&field, "south", 0..1).await;
    gated.open();
    let (told, later) = (asking.await.unwrap(), attune(&field).await.unwrap_err());
    for refused in [told, later] {
        assert_eq!(refused.code(), ErrorCode::FieldUnavailable);
        assert!(
            refused.to_string().contains("body of event 0 is missing"),
            "{}",
            refused.to_string()
        );
    }
    assert!(field.health().failure().unwrap().contains("body of event 0 is missing"));
    let refused = record(&field, message("more", "a"), "more", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::FieldUnavailable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_is_closed_waits_for_its_texts_so_that_it_leaves_a_snapshot() {
    let (log, folder) = (written(40).await, tempfile::tempdir().unwrap());
    let gated = Gated::over(&log, Trouble::None);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    let opening = Arc::clone(&gated);
    let closing = closes_with_all_it_should_have(&field, &log, folder.path());
    tokio::join!(closing, async move { opening.open() });
}
