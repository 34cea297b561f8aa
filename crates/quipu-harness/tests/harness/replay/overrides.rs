//! What a substitute may be, and what is told of it.

use quipu_wire::harn::{HarnErrorCode, TaskState};
use serde_json::{Value, json};

use super::runs::World;

/// The id of the first event of a run that has this name.
async fn event_of(world: &World, task: &str, name: &str) -> String {
    let events = world.events(task).await;
    let found = events.into_iter().find(|event| event.event.as_str() == name);
    found.unwrap().envelope.id
}

async fn is_refused_at(world: &World, task: &str, overrides: Value, param: &str) {
    let body = json!({"mode": "with_overrides", "override": overrides});
    let refused = world.replay(task, body).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::InvalidRequest);
    assert_eq!(refused.param.as_deref(), Some(param));
}

#[tokio::test]
async fn what_an_event_says_that_recorded_an_answer_is_substituted_by_the_answers_key_alone() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let key = format!("event:{}", event_of(&world, &task, "vendor.dependency.recorded").await);
    let overrides = json!({key.as_str(): {"kind": "event_payload", "value": {}}});
    is_refused_at(&world, &task, overrides, &format!("override.{key}")).await;
}

#[tokio::test]
async fn a_substitute_for_what_an_event_says_is_what_it_says_then() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let id = event_of(&world, &task, "vendor.checkpoint.created").await;
    let key = format!("event:{id}");
    let text = json!({key.as_str(): {"kind": "event_payload", "value": "text"}});
    is_refused_at(&world, &task, text, &format!("override.{key}.value")).await;
    let says = json!({"label": "another"});
    let overrides = json!({key.as_str():
        {"kind": "event_payload", "value": says, "visibility": "public"}});
    let body = json!({"mode": "with_overrides", "override": overrides});
    let replay = world.replayed(&task, body).await;
    assert_eq!(replay.status, TaskState::Completed);
    let events = world.events(&replay.envelope.id).await;
    let original = |event: &quipu_wire::harn::Event| {
        event.replay.as_ref().and_then(|replay| replay.original_event_id.clone())
    };
    let event = events.iter().find(|event| original(event).as_deref() == Some(&id)).unwrap();
    assert_eq!(Value::Object(event.payload.0.clone()), says);
    let deltas = world.receipt(&replay.envelope.id).await.deltas.unwrap();
    assert!(deltas[0].reason.is_some(), "a delta has a reason though none was given");
}

#[tokio::test]
async fn a_target_that_is_not_the_keys_is_refused() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let with = |target: &str| json!({"llm:main:1": {"kind": "llm_provider_response", "value": 1, "target": target}});
    is_refused_at(&world, &task, with("other"), "override.llm:main:1.target").await;
    for target in ["main", "main:1", "1"] {
        let body = json!({"mode": "with_overrides", "override": with(target)});
        assert_eq!(world.replayed(&task, body).await.status, TaskState::Completed);
    }
}
