//! REGISTER and DEREGISTER by their rules, and DETECT's list.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use quipu_field::Field;
use quipu_log::{Engine, Head, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{
        AgentStatus, DeregisterPayload, DeregisterStatus, DetectPayload, RegisterPayload,
        RegisterStatus,
    },
};
use serde_json::{Value, json};

fn empty() -> Arc<Field> {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    open(&engine, None)
}

async fn leave(
    field: &Field,
    by: &str,
    whom: &str,
    authority: u8,
) -> Result<DeregisterStatus, ErrorCode> {
    let mut from = message(&format!("leave-{by}-{whom}"), by);
    from.authority = authority;
    let payload = DeregisterPayload { agent_id: whom.to_owned() };
    field.deregister(from, payload).await.map(|left| left.status).map_err(|error| error.code())
}

#[tokio::test]
async fn an_agent_joins_idle_and_learns_what_the_field_can_do() {
    let field = empty();
    let joined = register(&field, "a").await.unwrap();
    assert_eq!(joined.status, RegisterStatus::Registered);
    let agent = joined.agent.unwrap();
    assert_eq!((agent.id.as_str(), agent.status), ("a", AgentStatus::Idle));
    assert_eq!(joined.field_capabilities.conformance_level, 3);
    assert!(joined.field_capabilities.persistence);
    assert_eq!(field.agents().agents, [agent]);
}

#[tokio::test]
async fn a_name_is_taken_while_its_bearer_is_there_and_free_when_it_left() {
    let field = empty();
    register(&field, "a").await.unwrap();
    let payload = RegisterPayload::parse(json!({"id": "a", "role": "other"})).unwrap().0;
    let taken = field.register(message("again", "a"), payload.clone()).await.unwrap_err();
    assert_eq!(taken.code(), ErrorCode::AgentIdTaken);
    leave(&field, "a", "a", 10).await.unwrap();
    assert!(field.agents().agents.is_empty());
    let back = field.register(message("back", "a"), payload).await.unwrap();
    assert_eq!(back.agent.unwrap().role, "other");
}

#[tokio::test]
async fn an_agent_that_needs_more_than_there_is_does_not_join() {
    let field = empty();
    let payload =
        json!({"id": "a", "role": "r", "required_operations": ["RECORD", "TRANSMUTE", "TELEPORT"]});
    let payload = RegisterPayload::parse(payload).unwrap().0;
    let answer = field.register(message("m", "a"), payload).await.unwrap();
    assert_eq!(answer.status, RegisterStatus::Rejected);
    assert_eq!(answer.rejection_reason.unwrap(), "unsupported operations: TRANSMUTE, TELEPORT");
    assert_eq!(field.head(), Head::EMPTY);
}

#[tokio::test]
async fn nobody_joins_with_more_authority_than_its_credential_has() {
    let field = empty();
    let payload = json!({"id": "a", "role": "r", "authority_level": 6});
    let payload = RegisterPayload::parse(payload).unwrap().0;
    let mut from = message("m", "a");
    from.authority = 4;
    let refused = field.register(from.clone(), payload.clone()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    from.authority = 8;
    let joined = field.register(from, payload).await.unwrap();
    assert_eq!(joined.agent.unwrap().authority_level, 6);
    assert_eq!(leave(&field, "a", "a", 10).await, Ok(DeregisterStatus::Ok));
}

#[tokio::test]
async fn leaving_needs_four_and_making_another_leave_needs_eight() {
    let field = empty();
    for (agent, authority) in [("a", 10), ("b", 8), ("c", 9)] {
        let payload = json!({"id": agent, "role": "r", "authority_level": authority});
        let payload = RegisterPayload::parse(payload).unwrap().0;
        field.register(message(agent, agent), payload).await.unwrap();
    }
    assert_eq!(leave(&field, "a", "a", 3).await, Err(ErrorCode::InsufficientAuthority));
    assert_eq!(leave(&field, "a", "b", 7).await, Err(ErrorCode::InsufficientAuthority));
    assert_eq!(leave(&field, "a", "c", 8).await, Err(ErrorCode::InsufficientAuthority), "c has 9");
    assert_eq!(leave(&field, "a", "b", 8).await, Ok(DeregisterStatus::Ok));
    assert_eq!(leave(&field, "a", "a", 4).await, Ok(DeregisterStatus::Ok));
}

#[tokio::test]
async fn an_unknown_target_is_an_answer_and_an_unknown_caller_an_error() {
    let field = empty();
    register(&field, "a").await.unwrap();
    let head = field.head();
    assert_eq!(leave(&field, "a", "ghost", 4).await, Ok(DeregisterStatus::NotFound));
    assert_eq!(leave(&field, "ghost", "ghost", 4).await, Ok(DeregisterStatus::NotFound));
    assert_eq!(leave(&field, "ghost", "a", 10).await, Err(ErrorCode::AgentNotRegistered));
    assert_eq!(field.head(), head, "nothing happened");
}

async fn detect(field: &Arc<Field>, payload: Value) -> Result<usize, ErrorCode> {
    let payload = DetectPayload::parse(payload).unwrap().0;
    let answer = field.detect(message("d", "a"), payload).await;
    answer.map(|found| found.conflicts.len()).map_err(|error| error.code())
}

#[tokio::test]
async fn detect_lists_conflicts_by_status_type_and_agent() {
    let field = empty();
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let old = record(&field, message("1", "a"), "x", json!([])).await.unwrap().memory_unit_id;
    let against = json!([{"type": "contradicts", "target_id": old}]);
    record(&field, message("2", "b"), "not x", against).await.unwrap();
    let listed = |filter: Value| json!({"mode": "list", "filter": filter});
    assert_eq!(detect(&field, listed(json!({}))).await, Ok(1));
    assert_eq!(
        detect(&field, listed(json!({"status": ["detected"], "types": ["factual"]}))).await,
        Ok(1)
    );
    assert_eq!(detect(&field, listed(json!({"status": ["resolved"]}))).await, Ok(0));
    assert_eq!(detect(&field, listed(json!({"types": ["priority"]}))).await, Ok(0));
    assert_eq!(detect(&field, listed(json!({"involving_agents": ["b"]}))).await, Ok(1));
    assert_eq!(detect(&field, listed(json!({"involving_agents": ["c"]}))).await, Ok(0));
}
