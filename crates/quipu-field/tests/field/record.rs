//! RECORD by its rules: what follows from relations, who may, and that twice is once.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use quipu_field::Field;
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{
        AttunePayload, ConflictStatus, ConflictType, DetectedBy, MemoryUnit, RecordPayload,
        UnitStatus, UnitView,
    },
};
use serde_json::{Value, json};

async fn team() -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    (engine, field)
}

async fn units(field: &Arc<Field>) -> Vec<MemoryUnit> {
    let scope = json!({"role": "r", "max_units": 100, "include_own": true});
    let (payload, _) = AttunePayload::parse(json!({"scope": scope})).unwrap();
    let mut from = message("look", "b");
    from.session = Some("session-1".to_owned());
    let answer = field.attune(from, payload).await.unwrap();
    let mut units: Vec<MemoryUnit> = answer
        .record
        .into_iter()
        .filter_map(|scoped| match scoped.memory_unit {
            UnitView::Unit(unit) => Some(*unit),
            UnitView::Id { .. } => None,
        })
        .collect();
    units.sort_by_key(|unit| unit.epoch);
    units
}

fn relation(kind: &str, target: &str) -> Value {
    json!([{"type": kind, "target_id": target, "description": "23% against 14%"}])
}

#[tokio::test]
async fn a_unit_comes_back_as_it_was_recorded_with_what_the_field_assigns() {
    let (_, field) = team().await;
    let mut from = message("m1", "a");
    from.session = Some("session-1".to_owned());
    from.epoch = 10;
    let accepted = record(&field, from, "a ship", json!([])).await.unwrap();
    assert_eq!(accepted.epoch, 11);
    let unit = units(&field).await.remove(0);
    assert_eq!(unit.id, accepted.memory_unit_id);
    assert_eq!((unit.status, unit.epoch), (UnitStatus::Active, 11));
    assert_eq!((unit.content.as_str(), unit.intent.purpose.as_str()), ("a ship", "to test"));
    assert_eq!(unit.source.agent_id, "a");
    assert_eq!(unit.source.agent_role, "role of a");
    assert_eq!(unit.source.session_id.as_deref(), Some("session-1"));
    assert!(unit.source.timestamp.starts_with("2026-03-01T10:30:00"));
    assert_eq!(unit.confidence.unwrap().score, Some(0.5));
}

#[tokio::test]
async fn contradicting_makes_one_conflict_and_contests_both_units() {
    let (_, field) = team().await;
    let old = record(&field, message("m1", "a"), "23%", json!([])).await.unwrap();
    let twice = json!([
        {"type": "contradicts", "target_id": old.memory_unit_id, "description": "23% against 14%"},
        {"type": "contradicts", "target_id": old.memory_unit_id},
    ]);
    let new = record(&field, message("m2", "b"), "14%", twice).await.unwrap();
    assert_eq!(new.conflicts_detected.len(), 1);
    let conflicts = field.conflicts().await.unwrap().conflicts;
    assert_eq!(conflicts.len(), 1);
    let conflict = &conflicts[0];
    assert_eq!(conflict.id, new.conflicts_detected[0]);
    assert_eq!((&conflict.unit_a, &conflict.unit_b), (&old.memory_unit_id, &new.memory_unit_id));
    assert_eq!((conflict.kind, conflict.status), (ConflictType::Factual, ConflictStatus::Detected));
    assert_eq!(conflict.detected_by, DetectedBy::Explicit);
    assert_eq!(conflict.description, "23% against 14%");
    let status: Vec<UnitStatus> = units(&field).await.iter().map(|unit| unit.status).collect();
    assert_eq!(status, [UnitStatus::Contested, UnitStatus::Contested]);
}

#[tokio::test]
async fn superseding_replaces_the_target_once_and_for_all() {
    let (_, field) = team().await;
    let old = record(&field, message("m1", "a"), "old", json!([])).await.unwrap();
    let target = &old.memory_unit_id;
    record(&field, message("m2", "b"), "new", relation("supersedes", target)).await.unwrap();
    record(&field, message("m3", "b"), "newer", relation("supersedes", target)).await.unwrap();
    let contents: Vec<String> = units(&field).await.into_iter().map(|unit| unit.content).collect();
    assert_eq!(contents, ["new", "newer"]);
    let counts = field.status().units;
    assert_eq!((counts.by_status["superseded"], counts.by_status["active"]), (1, 2));
}

#[tokio::test]
async fn only_what_is_there_can_be_contradicted_or_superseded() {
    let (_, field) = team().await;
    for kind in ["contradicts", "supersedes"] {
        let refused = record(&field, message(kind, "a"), "x", relation(kind, "mem-nope")).await;
        let error = refused.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnitNotFound);
        assert!(error.to_string().starts_with("payload.relations[0].target_id: no unit mem-nope"));
    }
    let dangling = record(&field, message("m", "a"), "x", relation("answers", "mem-nope")).await;
    dangling.unwrap();
    assert_eq!(units(&field).await[0].relations[0].target_id, "mem-nope");
    assert_eq!(field.status().units.total, 1);
}

#[tokio::test]
async fn the_same_message_twice_is_answered_alike_and_done_once() {
    let (engine, field) = team().await;
    let first = record(&field, message("m1", "a"), "once", json!([])).await.unwrap();
    let again = record(&field, message("m1", "a"), "once", json!([])).await.unwrap();
    assert_eq!(first, again);
    let reopened = open(&engine, None);
    let after = record(&reopened, message("m1", "a"), "once", json!([])).await.unwrap();
    assert_eq!(first, after);
    assert_eq!(reopened.status().units.total, 1);
}

#[tokio::test]
async fn the_same_id_for_another_message_is_an_error_but_another_agent_may_use_it() {
    let (_, field) = team().await;
    record(&field, message("m1", "a"), "one", json!([])).await.unwrap();
    let refused = record(&field, message("m1", "a"), "two", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::MessageIdReused);
    record(&field, message("m1", "b"), "two", json!([])).await.unwrap();
}

#[tokio::test]
async fn many_copies_of_a_message_at_once_are_one_unit() {
    let (_, field) = team().await;
    let sent: Vec<_> = (0..32)
        .map(|_| {
            let field = Arc::clone(&field);
            tokio::spawn(async move { record(&field, message("m", "a"), "once", json!([])).await })
        })
        .collect();
    let mut answers = Vec::new();
    for one in sent {
        answers.push(one.await.unwrap().unwrap());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(field.status().units.total, 1);
}

#[tokio::test]
async fn who_is_not_registered_or_lacks_authority_records_nothing() {
    let (engine, field) = team().await;
    let head = engine.head(&FieldName::default_field()).unwrap();
    let stranger = record(&field, message("m", "nobody"), "x", json!([])).await.unwrap_err();
    assert_eq!(stranger.code(), ErrorCode::AgentNotRegistered);
    let mut observer = message("m", "a");
    observer.authority = 3;
    let refused = record(&field, observer, "x", json!([])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    assert_eq!(engine.head(&FieldName::default_field()).unwrap(), head);
}

#[tokio::test]
async fn a_draft_changes_nothing_that_others_see() {
    let (_, field) = team().await;
    let old = record(&field, message("m1", "a"), "a directive", json!([])).await.unwrap();
    for (id, kind) in [("m2", "supersedes"), ("m3", "contradicts")] {
        let payload = json!({"mode": "draft", "type": "finding", "content": "x",
            "intent": {"purpose": "p"}, "relations": relation(kind, &old.memory_unit_id)});
        let (payload, _) = RecordPayload::parse(payload).unwrap();
        let mut observer = message(id, "b");
        observer.authority = 2;
        field.record(observer, payload).await.unwrap();
    }
    let unit = units(&field).await.remove(0);
    assert_eq!((unit.id, unit.status), (old.memory_unit_id, UnitStatus::Active));
    assert_eq!(field.conflicts().await.unwrap().conflicts.len(), 1, "the claim is still on record");
}

#[tokio::test]
async fn minus_zero_is_zero_in_the_state_and_in_the_log() {
    let (engine, field) = team().await;
    let payload = || {
        let whole = json!({"type": "finding", "content": "x", "intent": {"purpose": "p"},
            "confidence": {"score": -0.0, "reasoning": "r"}});
        RecordPayload::parse(whole).unwrap().0
    };
    let first = field.record(message("m1", "a"), payload()).await.unwrap();
    let again = field.record(message("m1", "a"), payload()).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(field.state_hash(), open(&engine, None).state_hash());
}
