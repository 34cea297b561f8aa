//! Snapshots that are made while a Field is at work hold what its log says, although their index is taken over from what
//! readers see: each is compared with a rebuild from nothing.

use std::{path::Path, sync::Arc};

use quipu_field::{
    Field, FieldOptions, ScriptedOrigin,
    restore::restore,
    snapshot::{self, SnapshotDir},
};
use quipu_log::{Engine, FieldName, MemoryEngine, Pace};
use quipu_recall::Index;
use serde_json::json;

use crate::{
    compact::compact,
    support::{eventually, message, record, register},
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

async fn write(field: &Field, session: &str, count: usize) {
    for at in 0..count {
        let id = format!("{session}-{at}");
        let text =
            format!("the {session} fleet has {at} ships; from now on count the {at} anchors");
        let from = quipu_field::Message { session: Some(session.into()), ..message(&id, "a") };
        record(field, from, &text, json!([])).await.unwrap();
    }
}

fn stored(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    bytes
}

/// Waits for a snapshot of all that was written, and compares it.
async fn is_as_rebuilt(engine: &Arc<dyn Engine>, field: &Field, folder: &Path) {
    let name = format!("{:020}.snap", field.head().position);
    eventually("there is a snapshot", || folder.join(&name).exists()).await;
    let made = snapshot::load(&folder.join(&name)).unwrap();
    let field = FieldName::default_field();
    let rebuilt = restore(engine.as_ref(), &field, None, Pace::Alone, &mut |_| true).unwrap();
    assert_eq!(made.head, rebuilt.published.head);
    assert_eq!(made.state.hash(), rebuilt.published.state.hash());
    assert_eq!(stored(&made.index), stored(&rebuilt.published.index));
    assert_eq!(SnapshotDir::new(folder.to_owned()).list().len(), 1, "the older one is deleted");
}

#[tokio::test]
async fn a_snapshot_made_from_the_one_before_is_as_one_made_from_nothing() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Arc::new(MemoryEngine::new()));
    let engine: Arc<dyn Engine> = engine;
    let field = open(&engine, folder.path());
    register(&field, "a").await.unwrap();
    for session in ["north", "south", "east"] {
        write(&field, session, 12).await;
        is_as_rebuilt(&engine, &field, folder.path()).await;
    }
}

#[tokio::test]
async fn a_snapshot_behind_a_purge_has_none_of_what_was_purged() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Arc::new(MemoryEngine::new()));
    let engine: Arc<dyn Engine> = engine;
    let field = open(&engine, folder.path());
    register(&field, "a").await.unwrap();
    write(&field, "north", 12).await;
    is_as_rebuilt(&engine, &field, folder.path()).await;
    write(&field, "xylophone", 3).await;
    let purge =
        json!({"strategy": "purge", "filter": {"session_id": "xylophone"}, "reason": "asked"});
    compact(&field, "c", purge).await.unwrap();
    write(&field, "south", 12).await;
    is_as_rebuilt(&engine, &field, folder.path()).await;
    let made = snapshot::load(&SnapshotDir::new(folder.path().to_owned()).list()[0]).unwrap();
    assert!(made.index.lexical().knows_term("south"));
    assert!(!made.index.lexical().knows_term("xylophon"));
}
