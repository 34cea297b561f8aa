//! Retracting a unit: who may, when, and what follows.

use std::sync::Arc;

use crate::{
    compact::compact,
    support::{message, open, record, register},
};
use quipu_core::Message;
use quipu_field::{Field, FieldError};
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{MergePayload, RetractPayload, RetractResponse, UnitStatus},
};
use serde_json::json;

async fn team() -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    (engine, field)
}

async fn retract(
    field: &Field,
    from: Message,
    unit: &str,
    purpose: &str,
) -> Result<RetractResponse, FieldError> {
    let payload = json!({"unit_id": unit, "intent": {"purpose": purpose}});
    field.retract(from, RetractPayload::parse(payload).unwrap().0).await
}

fn with_authority(id: &str, agent: &str, authority: u8) -> Message {
    Message { authority, ..message(id, agent) }
}

#[tokio::test]
async fn an_author_withdraws_its_unit_once_and_it_is_gone_from_sight() {
    let (engine, field) = team().await;
    let unit = record(&field, message("m", "a"), "wrong", json!([])).await.unwrap().memory_unit_id;
    let from = || with_authority("r", "a", 4);
    let answer = retract(&field, from(), &unit, "a typing error").await.unwrap();
    assert_eq!((answer.unit_id.as_str(), answer.was), (unit.as_str(), UnitStatus::Active));
    assert_eq!(answer.epoch, field.head().epoch);
    assert_eq!(
        field.unit(quipu_core::Reader::operator(), &unit).await.unwrap().status,
        UnitStatus::Retracted
    );
    assert_eq!(retract(&field, from(), &unit, "a typing error").await.unwrap(), answer);
    let reused = retract(&field, from(), &unit, "another reason").await.unwrap_err();
    assert_eq!(reused.code(), ErrorCode::MessageIdReused);
    let twice = retract(&field, message("r2", "a"), &unit, "again").await.unwrap_err();
    assert_eq!(twice.code(), ErrorCode::InvalidTransition);
    assert_eq!(open(&engine, None).state_hash(), field.state_hash());
}

#[tokio::test]
async fn what_was_purged_reads_as_retracted_and_cannot_be_retracted() {
    let (_, field) = team().await;
    let unit = record(&field, message("m", "a"), "gone", json!([])).await.unwrap().memory_unit_id;
    let purge = json!({"strategy": "purge", "filter": {"types": ["finding"]}, "reason": "asked"});
    compact(&field, "c", purge).await.unwrap();
    let read = field.unit(quipu_core::Reader::operator(), &unit).await.unwrap();
    assert_eq!((read.status, read.content.as_str()), (UnitStatus::Retracted, "(erased)"));
    let refused = retract(&field, message("r", "a"), &unit, "too late").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    assert!(refused.to_string().ends_with("was purged"), "{}", refused.to_string());
}

#[tokio::test]
async fn another_agent_may_not_unless_it_has_authority_10() {
    let (_, field) = team().await;
    let unit = record(&field, message("m", "a"), "mine", json!([])).await.unwrap().memory_unit_id;
    let refused = retract(&field, with_authority("r", "b", 9), &unit, "no").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    let stranger = retract(&field, message("r", "nobody"), &unit, "no").await.unwrap_err();
    assert_eq!(stranger.code(), ErrorCode::AgentNotRegistered);
    let audit = retract(&field, with_authority("r", "a", 1), &unit, "no").await.unwrap_err();
    assert_eq!(audit.code(), ErrorCode::InsufficientAuthority);
    let missing = retract(&field, message("r", "b"), "mem-002", "no").await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::UnitNotFound);
    retract(&field, with_authority("r", "b", 10), &unit, "overruled").await.unwrap();
}

#[tokio::test]
async fn what_was_superseded_cannot_be_retracted() {
    let (_, field) = team().await;
    let old = record(&field, message("m1", "a"), "old", json!([])).await.unwrap().memory_unit_id;
    let replaces = json!([{"type": "supersedes", "target_id": old}]);
    record(&field, message("m2", "a"), "new", replaces).await.unwrap();
    let refused = retract(&field, message("r", "a"), &old, "late").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
}

#[tokio::test]
async fn after_a_retraction_the_other_unit_of_the_conflict_prevails() {
    let (_, field) = team().await;
    let old = record(&field, message("m1", "a"), "23%", json!([])).await.unwrap().memory_unit_id;
    let against = json!([{"type": "contradicts", "target_id": old}]);
    let new = record(&field, message("m2", "b"), "14%", against).await.unwrap();
    retract(&field, message("r", "b"), &new.memory_unit_id, "misread").await.unwrap();
    assert_eq!(field.conflicts().await.unwrap().conflicts.len(), 1);
    let payload = json!({"conflict_id": new.conflicts_detected[0], "strategy": "last_write_wins",
                         "resolution": {"rationale": "the other was withdrawn"}});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    let answer = field.merge(message("s", "a"), payload).await.unwrap();
    assert_eq!(answer.conflict.resolution.unwrap().winner_id, Some(old.clone()));
    assert_eq!(
        field.unit(quipu_core::Reader::operator(), &old).await.unwrap().status,
        UnitStatus::Active
    );
}
