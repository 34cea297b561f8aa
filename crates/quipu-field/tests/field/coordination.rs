//! What the tests of sessions, tasks and handoffs share: a team, and the three operations in short.

use std::sync::Arc;

use crate::support::{message, open};
use quipu_core::Message;
use quipu_field::{Field, FieldError};
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{
        Agent, AttunePayload, CoordinatePayload, CoordinateResponse, HandoffPayload,
        HandoffResponse, RecordPayload, RegisterPayload, SessionPayload, SessionResponse, Task,
        UnitView,
    },
};
use serde_json::{Value, json};

/// A Field with agents, each with a role and an authority.
pub(crate) async fn team(agents: &[(&str, &str, u8)]) -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    for (agent, role, authority) in agents {
        let payload = json!({"id": agent, "role": role, "authority_level": authority});
        let (payload, _) = RegisterPayload::parse(payload).unwrap();
        field.register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
    }
    (engine, field)
}

/// A message under a fresh id, in a session.
pub(crate) fn from(agent: &str, session: Option<&str>) -> Message {
    static SENT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = SENT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let mut from = message(&format!("m{number}"), agent);
    from.session = session.map(str::to_owned);
    from
}

pub(crate) async fn session(
    field: &Arc<Field>,
    by: Message,
    payload: Value,
) -> Result<SessionResponse, FieldError> {
    field.session(by, SessionPayload::parse(payload).unwrap().0).await
}

pub(crate) async fn coordinate(
    field: &Arc<Field>,
    by: Message,
    payload: Value,
) -> Result<CoordinateResponse, FieldError> {
    field.coordinate(by, CoordinatePayload::parse(payload).unwrap().0).await
}

pub(crate) async fn handoff(
    field: &Arc<Field>,
    by: Message,
    payload: Value,
) -> Result<HandoffResponse, FieldError> {
    field.handoff(by, HandoffPayload::parse(payload).unwrap().0).await
}

/// Makes a task of that id.
pub(crate) async fn make(field: &Arc<Field>, by: Message, id: &str, more: Value) -> Task {
    let mut payload = json!({"action": "create",
        "task": {"id": id, "title": "a title", "intent": {"purpose": "a purpose"}}});
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    coordinate(field, by, payload).await.unwrap().task.unwrap()
}

/// Moves a task, with whatever the action needs.
pub(crate) async fn act(
    field: &Arc<Field>,
    by: Message,
    id: &str,
    action: &str,
) -> Result<Task, ErrorCode> {
    let payload = json!({"action": action, "task_id": id, "assignee": by.agent, "reason": "why"});
    let answer = coordinate(field, by, payload).await;
    answer.map(|answer| answer.task.unwrap()).map_err(|error| error.code())
}

pub(crate) fn agent(field: &Field, id: &str) -> Agent {
    field.agents().agents.into_iter().find(|agent| agent.id == id).unwrap()
}

/// Records a committed unit and answers its id.
pub(crate) async fn add(field: &Field, by: Message, more: Value) -> Result<String, FieldError> {
    let mut payload = json!({"type": "finding", "content": "c", "intent": {"purpose": "p"},
                             "confidence": {"score": 0.5, "reasoning": "r"}});
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    field.record(by, payload).await.map(|accepted| accepted.memory_unit_id)
}

/// The contents that an ATTUNE returns, sorted, and how many it says there are.
pub(crate) async fn seen(field: &Arc<Field>, by: Message) -> Result<Vec<String>, ErrorCode> {
    let scope = json!({"role": "whatever", "max_units": 100, "include_own": true});
    let (payload, _) = AttunePayload::parse(json!({"scope": scope})).unwrap();
    let answer = field.attune(by, payload).await.map_err(|error| error.code())?;
    assert_eq!(answer.context_budget.units_available, answer.record.len());
    let mut contents: Vec<String> = answer
        .record
        .into_iter()
        .filter_map(|scoped| match scoped.memory_unit {
            UnitView::Unit(unit) => Some(unit.content),
            UnitView::Id { .. } => None,
        })
        .collect();
    contents.sort();
    Ok(contents)
}
