//! The epochs that agents are told: they rise, they are never given twice, polling by them misses
//! nothing and repeats nothing, also across a crash.

use std::{collections::BTreeSet, sync::Arc};

use crate::support::{copy_of_log, message, open, record, register};
use quipu_field::Field;
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::{ErrorCode, akashik::AttunePayload, limits::EPOCH_JUMP_MAX};
use serde_json::json;

async fn poll(field: &Arc<Field>, since: u64, epoch: u64) -> (Vec<String>, u64) {
    let scope = json!({"role": "watcher", "max_units": 1000});
    let (payload, _) =
        AttunePayload::parse(json!({"scope": scope, "since_epoch": since, "format": "ids_only"}))
            .unwrap();
    let mut from = message("poll", "watcher");
    from.epoch = epoch;
    let answer = field.attune(from, payload).await.unwrap();
    (answer.record.iter().map(|unit| unit.memory_unit.id().to_owned()).collect(), answer.epoch)
}

/// What a crash leaves: the log as it is now. The Field that crashed is still there in a test, and may yet note in
/// its own log how far reads have come.
fn after_a_crash(engine: &Arc<dyn Engine>) -> Arc<Field> {
    let head = engine.head(&FieldName::default_field()).unwrap();
    let left: Arc<dyn Engine> = Arc::new(copy_of_log(engine, head.position));
    open(&left, None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polling_beside_a_writer_sees_each_unit_exactly_once() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "author").await.unwrap();
    register(&field, "watcher").await.unwrap();
    let writing = tokio::spawn({
        let field = Arc::clone(&field);
        async move {
            let mut recorded = BTreeSet::new();
            for number in 0..500 {
                let from = message(&format!("m{number}"), "author");
                let text = format!("unit {number}");
                let accepted = record(&field, from, &text, json!([])).await.unwrap();
                recorded.insert(accepted.memory_unit_id);
            }
            recorded
        }
    });
    let (mut seen, mut since) = (Vec::new(), 0);
    while !writing.is_finished() {
        let (new, epoch) = poll(&field, since, 0).await;
        assert!(epoch >= since, "the clock went back");
        seen.extend(new);
        since = epoch;
    }
    let recorded = writing.await.unwrap();
    seen.extend(poll(&field, since, 0).await.0);
    assert_eq!(seen.len(), recorded.len(), "a unit was missed or repeated");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), recorded);
}

#[tokio::test]
async fn a_field_that_crashed_gives_no_epoch_that_a_reader_was_told() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "author").await.unwrap();
    register(&field, "watcher").await.unwrap();
    let mut told = 0;
    for _ in 0..3000 {
        told = poll(&field, 0, 0).await.1;
    }
    // Not closed: as after a crash, only the log is left.
    let again = after_a_crash(&engine);
    let accepted = record(&again, message("m", "author"), "after", json!([])).await.unwrap();
    assert!(accepted.epoch > told, "{} was told, {} was given", told, accepted.epoch);
}

#[tokio::test]
async fn a_field_that_was_closed_in_order_goes_on_where_it_was() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "author").await.unwrap();
    let first = record(&field, message("m1", "author"), "before", json!([])).await.unwrap();
    field.close().await;
    let again = open(&engine, None);
    let second = record(&again, message("m2", "author"), "after", json!([])).await.unwrap();
    assert_eq!(second.epoch, first.epoch + 2, "one for the closing, one for itself");
}

#[tokio::test]
async fn a_read_that_brings_a_later_epoch_moves_the_clock_for_good() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "author").await.unwrap();
    register(&field, "watcher").await.unwrap();
    let (_, epoch) = poll(&field, 0, 900).await;
    assert_eq!(epoch, 901);
    let again = after_a_crash(&engine);
    let accepted = record(&again, message("m", "author"), "after", json!([])).await.unwrap();
    assert!(accepted.epoch > epoch);
}

#[tokio::test]
async fn an_epoch_too_far_ahead_is_refused_by_reads_and_writes() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "author").await.unwrap();
    let mut from = message("m", "author");
    from.epoch = EPOCH_JUMP_MAX * 2;
    let refused = record(&field, from.clone(), "x", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidPayload);
    let scope = json!({"scope": {"role": "r", "max_units": 1}});
    let (payload, _) = AttunePayload::parse(scope).unwrap();
    let refused = field.attune(from, payload).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidPayload);
}

#[tokio::test]
async fn reads_after_an_orderly_close_are_not_forgotten_by_the_next_close_or_crash() {
    for in_order in [true, false] {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let field = open(&engine, None);
        register(&field, "author").await.unwrap();
        register(&field, "watcher").await.unwrap();
        field.close().await;

        let field = open(&engine, None);
        let mut told = 0;
        for _ in 0..50 {
            told = poll(&field, 0, 0).await.1;
        }
        if in_order {
            field.close().await;
        }
        let field = after_a_crash(&engine);
        let accepted = record(&field, message("m", "author"), "after", json!([])).await.unwrap();
        assert!(accepted.epoch > told, "{told} was told, {} was given", accepted.epoch);
    }
}
