//! Proofs across restarts: the tree goes on from where it was saved, and one directory never lets two
//! different logs be signed.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{message, register};
use quipu_core::origin::ScriptedOrigin;
use quipu_field::{Field, FieldOptions};
use quipu_log::{
    Commit, Engine, EngineError, FieldName, MemoryEngine, TreeHead, conformance::Altered,
};
use quipu_wire::{ErrorCode, akashik::RegisterPayload};
use serde_json::json;

/// An engine that counts the commits that are read.
#[derive(Debug, Default)]
struct Counting {
    inner: Arc<MemoryEngine>,
    read: AtomicUsize,
}

impl Altered for Counting {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::<MemoryEngine>::clone(&self.inner)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        let page = self.inner.read(field, from, limit)?;
        self.read.fetch_add(page.len(), Ordering::Relaxed);
        Ok(page)
    }
}

fn open(engine: &Arc<dyn Engine>, proofs: &Path) -> Arc<Field> {
    let options = FieldOptions {
        proofs: Some(proofs.to_owned()),
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn fill(field: &Field, commits: usize) {
    for number in 0..commits {
        register(field, &format!("agent-{number}")).await.unwrap();
    }
}

/// What a first proof of all commits reads, without what opening and the newest commit read.
async fn reads_of_first_proof(engine: &Arc<Counting>, proofs: &Path) -> (usize, TreeHead) {
    let shared: Arc<dyn Engine> = Arc::<Counting>::clone(engine);
    let field = open(&shared, proofs);
    let before = engine.read.load(Ordering::Relaxed);
    let head = field.tree_head(None).await.unwrap();
    (engine.read.load(Ordering::Relaxed) - before, head)
}

#[tokio::test]
async fn the_first_proof_after_a_start_reads_only_what_the_saved_tree_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(Counting::default());
    let shared: Arc<dyn Engine> = Arc::<Counting>::clone(&engine);
    let field = open(&shared, folder.path());
    fill(&field, 1000).await;
    let head = field.tree_head(None).await.unwrap();
    field.close().await;
    let (reads, later) = reads_of_first_proof(&engine, folder.path()).await;
    assert!(reads < 300, "{reads} of a thousand commits: a block at most");
    assert_eq!(later.size, head.size + 1, "closing is a commit");

    let elsewhere = tempfile::tempdir().unwrap();
    let (reads, anew) = reads_of_first_proof(&engine, elsewhere.path()).await;
    assert!(reads > 1000, "{reads}");
    assert_eq!(anew, later, "the saved tree and the log give one root");

    let saved = folder.path().join("tree");
    let whole = std::fs::read(&saved).unwrap();
    for at in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&saved, &bytes).unwrap();
        assert_eq!(reads_of_first_proof(&engine, folder.path()).await.1, later, "byte {at}");
    }
}

#[tokio::test]
async fn a_tree_of_another_log_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let one: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&one, folder.path());
    fill(&field, 20).await;
    field.tree_head(None).await.unwrap();
    field.close().await;
    let other = Arc::new(Counting::default());
    let shared: Arc<dyn Engine> = Arc::<Counting>::clone(&other);
    let field = open(&shared, folder.path());
    let (payload, _) = RegisterPayload::parse(json!({"id": "x", "role": "r"})).unwrap();
    field.register(message("x", "x"), payload).await.unwrap();
    fill(&field, 30).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let expected = reads_of_first_proof(&other, elsewhere.path()).await.1;
    assert_eq!(field.tree_head(None).await.unwrap(), expected);
}

#[tokio::test]
async fn what_was_signed_once_is_never_signed_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let log: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&log, folder.path());
    fill(&field, 5).await;
    let signed = field.tree_head(None).await.unwrap();
    field.vouch(signed).await.unwrap();
    field.vouch(signed).await.unwrap();
    field.vouch(field.tree_head(Some(3)).await.unwrap()).await.unwrap();

    let refused = |engine: Arc<dyn Engine>, commits: usize| {
        let path = folder.path().to_owned();
        async move {
            let other = open(&engine, &path);
            let (payload, _) = RegisterPayload::parse(json!({"id": "x", "role": "r"})).unwrap();
            other.register(message("x", "x"), payload).await.unwrap();
            fill(&other, commits).await;
            let head = other.tree_head(None).await.unwrap();
            other.vouch(head).await.unwrap_err()
        }
    };
    let shorter = refused(Arc::new(MemoryEngine::new()), 1).await;
    assert_eq!(shorter.code(), ErrorCode::FieldUnavailable);
    assert!(shorter.to_string().contains("only 2 commits"), "{}", shorter.to_string());
    for commits in [4, 9] {
        let differs = refused(Arc::new(MemoryEngine::new()), commits).await;
        assert!(differs.to_string().contains("another history"), "{}", differs.to_string());
    }

    let again = open(&log, folder.path());
    fill(&again, 5).await;
    register(&again, "later").await.unwrap();
    again.vouch(again.tree_head(None).await.unwrap()).await.unwrap();
    std::fs::write(folder.path().join("signed"), "{").unwrap();
    let unreadable = open(&log, folder.path());
    let head = unreadable.tree_head(None).await.unwrap();
    assert_eq!(unreadable.vouch(head).await.unwrap_err().code(), ErrorCode::FieldUnavailable);
}
