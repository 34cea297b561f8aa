//! A Field that has much to read is opened before its texts are read: it takes writes and reads by id at once, and whoever asks by
//! words waits for the index, which is in the end as if all had been read first.

use std::sync::{Arc, Condvar, Mutex};

use quipu_field::{Field, FieldOptions, ScriptedOrigin, restore::restore, snapshot};
use quipu_log::{
    Commit, Engine, EngineError, FieldName, Head, MemoryEngine, Pace, StoredHeader,
    conformance::Altered,
};
use quipu_recall::Index;
use quipu_wire::{ErrorCode, ProtocolError, akashik::AttunePayload};
use serde_json::{Value, json};

use crate::{
    compact::compact,
    support::{eventually, message, record, register},
};

/// A log whose headers can be read, and whose texts only once somebody opens the gate.
#[derive(Debug)]
struct Gated {
    log: Arc<dyn Engine>,
    open: Mutex<bool>,
    opened: Condvar,
    damaged: bool,
}

impl Gated {
    fn over(log: &Arc<dyn Engine>, damaged: bool) -> Arc<Self> {
        let (open, opened) = (Mutex::default(), Condvar::new());
        Arc::new(Self { log: Arc::clone(log), open, opened, damaged })
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
        let mut page = self.log.read(field, from, limit)?;
        if self.damaged {
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

fn open(engine: &Arc<dyn Engine>, later: u64, snapshots: Option<&std::path::Path>) -> Arc<Field> {
    let options = FieldOptions {
        index_later_commits: later,
        snapshot_commits: 20,
        snapshots: snapshots.map(std::path::Path::to_owned),
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn write(field: &Field, session: &str, count: usize) {
    for at in 0..count {
        let from = quipu_field::Message {
            session: Some(session.into()),
            ..message(&format!("{session}-{at}"), "a")
        };
        let text = format!("the {session} fleet has {at} ships");
        record(field, from, &text, json!([])).await.unwrap();
    }
}

/// A log of an agent and forty units.
async fn written() -> Arc<dyn Engine> {
    let log: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&log, u64::MAX, None);
    for agent in ["a", "b"] {
        register(&field, agent).await.unwrap();
    }
    write(&field, "north", 40).await;
    log
}

/// What an agent is given to read about ships.
async fn attune(field: &Arc<Field>) -> Result<Vec<Value>, ProtocolError> {
    let asked = json!({"scope": {"role": "sailor", "max_units": 9, "context_hint": "seven ships"}});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("attune", "b"), payload).await?;
    Ok(answer.record.iter().map(|unit| serde_json::to_value(unit).unwrap()).collect())
}

fn stored(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    bytes
}

/// Closes a Field with a snapshot, and compares that with a rebuild.
async fn closes_with_all_it_should_have(
    field: &Arc<Field>,
    log: &Arc<dyn Engine>,
    at: &std::path::Path,
) {
    field.close().await;
    let files: Vec<_> = std::fs::read_dir(at).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("one snapshot: {files:?}") };
    let made = snapshot::load(file).unwrap();
    // It may have been made a moment before.
    let (name, until) = (FieldName::default_field(), MemoryEngine::new());
    let commits = usize::try_from(made.head.position).unwrap();
    until.append(&name, &Head::EMPTY, &log.read(&name, 1, commits).unwrap()).unwrap();
    let rebuilt = restore(&until, &name, None, Pace::Alone, &mut |_| true).unwrap().published;
    assert!(rebuilt.index.len() >= 40);
    assert_eq!((made.head, made.state.hash()), (rebuilt.head, rebuilt.state.hash()));
    assert_eq!(stored(&made.index), stored(&rebuilt.index));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_are_taken_before_the_texts_are_read_and_answers_are_as_ever() {
    let (log, folder) = (written().await, tempfile::tempdir().unwrap());
    let gated = Gated::over(&log, false);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    assert_eq!(field.head(), log.head(&FieldName::default_field()).unwrap());
    write(&field, "south", 3).await;
    let asking = tokio::spawn({
        let field = Arc::clone(&field);
        async move { attune(&field).await.unwrap() }
    });
    write(&field, "east", 2).await;
    assert!(!asking.is_finished(), "nobody has read a text yet");
    assert_eq!(field.texts_behind(), Some((0, field.head().position)));
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
    let (log, folder) = (written().await, tempfile::tempdir().unwrap());
    let first = open(&log, u64::MAX, None);
    write(&first, "xylophone", 3).await;
    drop(first);
    let gated = Gated::over(&log, false);
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
async fn a_text_that_is_missing_stops_writes_and_whoever_asks_by_words_is_told() {
    let log = written().await;
    let gated = Gated::over(&log, true);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, None);
    gated.open();
    eventually("the damage is found", || field.health().failure().is_some()).await;
    let reason = field.health().failure().unwrap();
    assert!(reason.contains("body of event 0 is missing"), "{reason}");
    assert_eq!(attune(&field).await.unwrap_err().code, ErrorCode::FieldUnavailable);
    let refused = record(&field, message("more", "a"), "more", json!([])).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::FieldUnavailable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_is_closed_before_its_texts_are_read_leaves_no_snapshot_without_them() {
    let (log, folder) = (written().await, tempfile::tempdir().unwrap());
    let gated = Gated::over(&log, false);
    let engine: Arc<dyn Engine> = Arc::<Gated>::clone(&gated);
    let field = open(&engine, 8, Some(folder.path()));
    let closing = tokio::spawn({
        let field = Arc::clone(&field);
        async move { field.close().await }
    });
    // Once it takes no more writes it is being closed.
    let mut asked = 0;
    while record(&field, message(&format!("late-{asked}"), "a"), "late", json!([])).await.is_ok() {
        asked += 1;
    }
    gated.open();
    closing.await.unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "it would be without the texts");
}
