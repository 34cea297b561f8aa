//! Snapshots that nodes leave for each other: a new node begins with one, and trusts none.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{message, record, register};
use quipu_core::origin::ScriptedOrigin;
use quipu_field::{Depot, Field, FieldOptions, SnapshotStore, StoreError, SystemOrigin};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::akashik::CompactPayload;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(60);

/// A storage in memory that can be away.
#[derive(Debug, Default)]
struct Shelf {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    away: AtomicBool,
}

impl Shelf {
    fn reach(&self, action: &str) -> Result<(), StoreError> {
        if self.away.load(Ordering::Relaxed) {
            return Err(StoreError { action: action.to_owned(), source: "it is away".into() });
        }
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        self.files.lock().unwrap().keys().cloned().collect()
    }

    fn contains(&self, word: &str) -> bool {
        let holds = |bytes: &Vec<u8>| bytes.windows(word.len()).any(|part| part == word.as_bytes());
        self.files.lock().unwrap().values().any(holds)
    }

    fn change(&self, change: impl Fn(&mut Vec<u8>)) {
        self.files.lock().unwrap().values_mut().for_each(change);
    }
}

impl SnapshotStore for Shelf {
    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.reach("list")?;
        let within = format!("{folder}/");
        let names = self.names();
        Ok(names.iter().filter_map(|name| name.strip_prefix(&within).map(str::to_owned)).collect())
    }

    fn get(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        self.reach("get")?;
        let gone = || StoreError { action: format!("get {path}"), source: "it is gone".into() };
        self.files.lock().unwrap().get(path).cloned().ok_or_else(gone)
    }

    fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.reach("put")?;
        self.files.lock().unwrap().insert(path.to_owned(), bytes);
        Ok(())
    }

    fn delete(&self, path: &str) -> Result<(), StoreError> {
        self.reach("delete")?;
        self.files.lock().unwrap().remove(path);
        Ok(())
    }
}

fn depot(shelf: &Arc<Shelf>, interval: Duration) -> Depot {
    Depot::new(Arc::clone(shelf) as _, Arc::new(SystemOrigin), interval).unwrap()
}

/// A node of its own, with a snapshot for every eight commits.
fn node(engine: &Arc<dyn Engine>, folder: &Path, depot: &Depot) -> Arc<Field> {
    let options = FieldOptions {
        snapshots: Some(folder.to_owned()),
        snapshot_commits: 8,
        depot: Some(depot.clone()),
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn write(field: &Field, from: u64, count: u64) {
    for at in from..from + count {
        let text = format!("the zanzibar {at} of the ships");
        record(field, message(&format!("r{at}"), "ann"), &text, json!([])).await.unwrap();
    }
}

/// A log of twenty units, whose snapshot is stored.
async fn stored(shelf: &Arc<Shelf>) -> Arc<dyn Engine> {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(shelf, Duration::ZERO);
    let field = node(&engine, folder.path(), &depot);
    register(&field, "ann").await.unwrap();
    write(&field, 0, 20).await;
    field.close().await;
    depot.settle(PATIENCE);
    assert!(!shelf.names().is_empty());
    engine
}

/// How many snapshots a new node fetched, and whether it came to the same state as one without any.
fn begin(engine: &Arc<dyn Engine>, shelf: &Arc<Shelf>) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(shelf, Duration::ZERO);
    let begun = node(engine, folder.path(), &depot);
    let plain = crate::support::open(engine, None);
    assert_eq!(begun.state_hash(), plain.state_hash());
    assert_eq!(begun.head(), plain.head());
    depot.counts().fetched
}

#[tokio::test]
async fn a_new_node_begins_with_the_stored_snapshot_and_catches_up() {
    let shelf = Arc::new(Shelf::default());
    let engine = stored(&shelf).await;
    let field = crate::support::open(&engine, None);
    write(&field, 100, 5).await;
    assert_eq!(begin(&engine, &shelf), 1);
}

#[tokio::test]
async fn a_torn_or_changed_snapshot_is_passed_over() {
    let torn: fn(&mut Vec<u8>) = |bytes| bytes.truncate(bytes.len() / 2);
    let changed: fn(&mut Vec<u8>) = |bytes| *bytes.last_mut().unwrap() ^= 1;
    let foreign: fn(&mut Vec<u8>) = |bytes| *bytes = b"quipu-snapshot 1\nof long ago".to_vec();
    for change in [torn, changed, foreign] {
        let shelf = Arc::new(Shelf::default());
        let engine = stored(&shelf).await;
        shelf.change(change);
        assert_eq!(begin(&engine, &shelf), 0);
    }
}

#[tokio::test]
async fn where_the_newest_is_damaged_the_one_before_it_serves() {
    let shelf = Arc::new(Shelf::default());
    let engine = stored(&shelf).await;
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(&shelf, Duration::ZERO);
    let field = node(&engine, folder.path(), &depot);
    write(&field, 100, 30).await;
    field.close().await;
    depot.settle(PATIENCE);
    let names = shelf.names();
    assert_eq!(names.len(), 2, "older ones are removed: {names:?}");
    shelf.files.lock().unwrap().get_mut(&names[1]).unwrap().truncate(100);
    assert_eq!(begin(&engine, &shelf), 1);
}

#[tokio::test]
async fn a_snapshot_of_another_log_or_under_another_name_is_passed_over() {
    let (shelf, other) = (Arc::new(Shelf::default()), Arc::new(Shelf::default()));
    let engine = stored(&shelf).await;
    let folder = tempfile::tempdir().unwrap();
    let foreign: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let depot = depot(&other, Duration::ZERO);
    let field = node(&foreign, folder.path(), &depot);
    register(&field, "bob").await.unwrap();
    register(&field, "ann").await.unwrap();
    write(&field, 50, 30).await;
    field.close().await;
    depot.settle(PATIENCE);
    let contents: Vec<Vec<u8>> = other.files.lock().unwrap().values().cloned().collect();
    // Under its own name it is of a commit that this log does not have.
    assert_eq!(begin(&engine, &other), 0);
    // Under the name of ours it is not what the name says.
    shelf.change(|bytes| bytes.clone_from(contents.last().unwrap()));
    assert_eq!(begin(&engine, &shelf), 0);
}

#[tokio::test]
async fn a_storage_that_is_away_stops_nobody_and_gets_the_snapshot_when_it_is_back() {
    let shelf = Arc::new(Shelf::default());
    shelf.away.store(true, Ordering::Relaxed);
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(&shelf, Duration::ZERO);
    let field = node(&engine, folder.path(), &depot);
    register(&field, "ann").await.unwrap();
    write(&field, 0, 20).await;
    field.close().await;
    let field = node(&engine, folder.path(), &depot);
    write(&field, 50, 1).await;
    assert!(depot.counts().failures > 0 || shelf.names().is_empty());
    shelf.away.store(false, Ordering::Relaxed);
    depot.settle(PATIENCE);
    assert_eq!(depot.counts().stored, 1);
    assert!(depot.counts().is_up);
}

#[tokio::test]
async fn a_node_stores_at_most_one_in_an_interval() {
    let shelf = Arc::new(Shelf::default());
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(&shelf, Duration::from_secs(3600));
    for round in 0..3 {
        let field = node(&engine, folder.path(), &depot);
        register(&field, "ann").await.unwrap();
        write(&field, round * 100, 20).await;
        field.close().await;
        depot.settle(PATIENCE);
    }
    assert_eq!(depot.counts().stored, 1);
}

#[tokio::test]
async fn what_was_purged_does_not_live_on_in_the_storage() {
    let shelf = Arc::new(Shelf::default());
    let engine = stored(&shelf).await;
    assert!(shelf.contains("zanzibar"), "the words of units are in a snapshot");
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(&shelf, Duration::ZERO);
    let field = node(&engine, folder.path(), &depot);
    // Also where the storage is away at the time.
    shelf.away.store(true, Ordering::Relaxed);
    let purge = json!({"strategy": "purge", "filter": {"max_age_epochs": 0}, "reason": "asked"});
    let (purge, _) = CompactPayload::parse(purge).unwrap();
    field.compact(message("p", "ann"), purge).await.unwrap();
    shelf.away.store(false, Ordering::Relaxed);
    depot.settle(PATIENCE);
    assert!(!shelf.contains("zanzibar"), "{:?}", shelf.names());
}

#[tokio::test]
async fn a_node_that_died_before_it_took_old_snapshots_away_does_so_when_it_opens() {
    let shelf = Arc::new(Shelf::default());
    let engine = stored(&shelf).await;
    let field = crate::support::open(&engine, None);
    let purge = json!({"strategy": "purge", "filter": {"max_age_epochs": 0}, "reason": "asked"});
    let (purge, _) = CompactPayload::parse(purge).unwrap();
    field.compact(message("p", "ann"), purge).await.unwrap();
    field.close().await;
    assert!(shelf.contains("zanzibar"));
    let folder = tempfile::tempdir().unwrap();
    let depot = depot(&shelf, Duration::ZERO);
    let again = node(&engine, folder.path(), &depot);
    depot.settle(PATIENCE);
    assert!(!shelf.contains("zanzibar"), "{:?}", shelf.names());
    let saved = std::fs::read_dir(folder.path()).into_iter().flatten().flatten().count();
    assert_eq!(saved, 0, "what was fetched is from before the purge too");
    drop(again);
}
