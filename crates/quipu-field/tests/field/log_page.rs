//! Reading the log in pages: complete, in order, verifiable, and without free text.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{ErrorCode, Hash, json::canon};
use serde_json::json;

#[tokio::test]
async fn pages_follow_each_other_and_every_hash_can_be_checked() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    assert_eq!(field.log(1, 10).await.unwrap().next_from, None);
    register(&field, "a").await.unwrap();
    for at in 0..6 {
        let text = format!("a secret of ours {at}");
        record(&field, message(&text, "a"), &text, json!([])).await.unwrap();
    }
    let (mut from, mut positions, mut prev) = (Some(1), Vec::new(), Hash::ZERO.to_string());
    while let Some(at) = from {
        let page = field.log(at, 3).await.unwrap();
        for commit in &page.commits {
            assert_eq!(commit.header["prev"], prev.as_str());
            let bytes = canon::to_string(&commit.header).unwrap();
            assert!(!bytes.contains("because"), "{bytes}");
            prev = Hash::of(bytes.as_bytes()).to_string();
            assert_eq!(prev, commit.hash);
            positions.push(commit.position);
        }
        from = page.next_from;
        assert_eq!(page.head.position, 7);
    }
    assert_eq!(positions, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(prev, field.head().hash.to_string());
    let beyond = field.log(8, 3).await.unwrap();
    assert_eq!((beyond.commits.len(), beyond.next_from), (0, None));
    assert_eq!(field.log(0, 1).await.unwrap().commits[0].position, 1);
}

#[tokio::test]
async fn a_unit_that_is_not_there_is_not_found() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let error =
        open(&engine, None).unit(quipu_core::Reader::operator(), "mem-002").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnitNotFound);
}
