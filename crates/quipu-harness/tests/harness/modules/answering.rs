//! Answering: only what is asked, once, by whoever may write in the Session.

use quipu_wire::harn::{HarnErrorCode, SubmitTaskRequest, TaskState};
use serde_json::json;

use super::pricing::{PRICING, asked_with, persona};
use crate::replay::runs::{World, asked};

#[tokio::test]
async fn only_what_is_asked_is_taken_and_only_once() {
    let world = World::with_modules().await;
    let task = world.submit_to(PRICING, json!({"customer": "Acme"})).await;
    let asks = world.asks(&task).await;
    let bob = asked_with("bob", 4);
    let good = json!({"key": asks["key"], "kind": "tool_result", "value": {"tier": "gold"}});
    for (member, value, code) in [
        ("key", json!("llm:main:1"), HarnErrorCode::Conflict),
        ("key", json!("host:tools.invoke:2"), HarnErrorCode::Conflict),
        ("key", json!("module:source"), HarnErrorCode::InvalidRequest),
        ("kind", json!("host_fact"), HarnErrorCode::InvalidRequest),
        ("request", json!({"other": 1}), HarnErrorCode::InvalidRequest),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let refused = world.answer_as(&bob, &task, body.clone()).await.unwrap_err();
        assert_eq!((refused.code, refused.param.as_deref()), (code, Some(member)), "{body}");
    }
    let refused = world.answer_as(&asked_with("eve", 3), &task, good.clone()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    assert!(!world.answer_as(&bob, &task, good.clone()).await.unwrap().again);
    assert!(world.answer_as(&bob, &task, good.clone()).await.unwrap().again);
    let mut other = good;
    other["value"] = json!({"tier": "tin"});
    let refused = world.answer_as(&bob, &task, other).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn nobody_records_a_module_where_a_worker_works() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let body = json!({"key": "module:source", "kind": "host_fact", "value": 1});
    let refused = world.answer_as(&asked("worker"), &task, body).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::InvalidRequest);
}

#[tokio::test]
async fn who_may_not_know_of_the_session_finds_no_task_to_answer() {
    let world = World::with_modules().await;
    let artifact = world.source("text/x-harn", PRICING).await;
    let persona = world.install(&asked("boss"), persona(&artifact)).await.unwrap();
    crate::support::private_session(&world.harness, "carol", "secret-plans").await;
    let body = json!({"persona_id": persona.envelope.id, "input": {"customer": "Acme"}});
    let request = SubmitTaskRequest::parse(body, Some("secret-plans")).unwrap();
    let submitted = world.harness.submit_task(&asked_with("carol", 7), request).await.unwrap();
    let task = submitted.task.envelope.id;
    world.until(&task, TaskState::InputRequired).await;
    let body = json!({"key": "host:tools.invoke:1", "kind": "tool_result", "value": {"tier": "x"}});
    let hidden = world.answer_as(&asked_with("bob", 4), &task, body.clone()).await.unwrap_err();
    assert_eq!(hidden.code, HarnErrorCode::ResourceNotFound);
    world.answer_as(&asked_with("carol", 4), &task, body).await.unwrap();
}
