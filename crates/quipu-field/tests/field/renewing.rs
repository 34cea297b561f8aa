//! Snapshots that are made while a Field is at work hold what its log says, although their index is taken over from what
//! readers see: each is compared with a rebuild from nothing.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use quipu_core::origin::ScriptedOrigin;
use quipu_field::{
    Field, FieldOptions,
    snapshot::format::{self, SnapshotDir},
    view::Published,
};
use quipu_log::{Engine, FieldName, MemoryEngine};
use serde_json::json;

use crate::{
    compact::compact,
    support::{assert_same, rebuilt_at, record_of_session, register},
};

/// With a snapshot for every ten commits.
fn open(engine: &Arc<dyn Engine>, folder: &Path) -> Arc<Field> {
    let options = FieldOptions {
        snapshots: Some(folder.to_owned()),
        snapshot_commits: 10,
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

/// The position of the newest snapshot, 0 where there is none.
fn newest(folder: &Path) -> u64 {
    let of = |path: &PathBuf| path.file_stem()?.to_str()?.parse().ok();
    SnapshotDir::new(folder.to_owned()).list().first().and_then(of).unwrap_or(0)
}

/// Writes until there is a snapshot behind a position, and compares it with a rebuild.
async fn is_as_rebuilt(
    log: &Arc<dyn Engine>,
    field: &Field,
    folder: &Path,
    session: &str,
) -> Published {
    let before = newest(folder);
    record_of_session(field, session, 0..12).await;
    // The next commit starts one where the thread of the last one had not ended.
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    for more in 12..1000 {
        if newest(folder) > before {
            break;
        }
        ticks.tick().await;
        record_of_session(field, session, more..more + 1).await;
    }
    let files = SnapshotDir::new(folder.to_owned()).list();
    let made = format::load(files.first().expect("a snapshot")).unwrap();
    assert!(made.head.position > before, "a newer one");
    assert_same(&made, &rebuilt_at(log, made.head.position));
    made
}

#[tokio::test]
async fn a_snapshot_made_from_the_one_before_is_as_one_made_from_nothing() {
    let (folder, log) = (tempfile::tempdir().unwrap(), Arc::new(MemoryEngine::new()));
    let log: Arc<dyn Engine> = log;
    let field = open(&log, folder.path());
    register(&field, "a").await.unwrap();
    for session in ["north", "south", "east"] {
        is_as_rebuilt(&log, &field, folder.path(), session).await;
    }
}

#[tokio::test]
async fn a_snapshot_behind_a_purge_has_none_of_what_was_purged() {
    let (folder, log) = (tempfile::tempdir().unwrap(), Arc::new(MemoryEngine::new()));
    let log: Arc<dyn Engine> = log;
    let field = open(&log, folder.path());
    register(&field, "a").await.unwrap();
    let before = is_as_rebuilt(&log, &field, folder.path(), "xylophone").await;
    assert!(before.index.lexical().knows_term("xylophon"));
    let purge =
        json!({"strategy": "purge", "filter": {"session_id": "xylophone"}, "reason": "asked"});
    compact(&field, "c", purge).await.unwrap();
    let purged_at = field.head().position;
    assert_ne!(newest(folder.path()), before.head.position, "it held what was purged");
    // One that could not be deleted, so that the next one is made from it.
    SnapshotDir::new(folder.path().to_owned()).save(&before).unwrap();
    let made = is_as_rebuilt(&log, &field, folder.path(), "south").await;
    assert!(made.head.position > purged_at);
    assert!(made.index.lexical().knows_term("south"));
    assert!(!made.index.lexical().knows_term("xylophon"));
}
