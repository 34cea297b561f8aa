//! Replays that a worker outside carries out, answer by answer.

use quipu_wire::harn::{
    CancelTaskRequest, HarnErrorCode, OutcomeStatus, ResolutionSource, TaskState,
};
use serde_json::json;

use super::runs::{World, asked, caller};

async fn started(world: &World, task: &str, overrides: serde_json::Value) -> String {
    let mode = if overrides.as_object().is_some_and(|map| map.is_empty()) {
        "exact"
    } else {
        "with_overrides"
    };
    let body = json!({"mode": mode, "override": overrides, "metadata": {"executor": "worker"}});
    let replay = world.replay(task, body).await.unwrap();
    assert_eq!(replay.status, TaskState::Submitted, "it waits for a worker");
    world.claim("worker", &replay.envelope.id).await;
    replay.envelope.id
}

#[tokio::test]
async fn a_worker_is_given_what_was_recorded_or_substituted_and_ends_with_its_own_output() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let overrides = json!({
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}, "reason": "what if"},
        "secret:token": {"kind": "secret_value", "value": "tok-other"}});
    let replay = started(&world, &task, overrides).await;
    let ask = json!({"key": "llm:main:1", "request": {"ask": "llm:main:1"}});
    let recorded = world.resolve(&replay, ask).await.unwrap();
    assert_eq!(recorded.source, ResolutionSource::Recorded);
    assert_eq!(recorded.value, Some(json!({"content": "49 dollars"})));
    assert!(!recorded.divergent);
    let given = world.resolve(&replay, json!({"key": "mcp:crm:1"})).await.unwrap();
    assert_eq!(given.source, ResolutionSource::Overridden);
    assert_eq!(given.value, Some(json!({"tier": "tin"})));
    let secret = world.resolve(&replay, json!({"key": "secret:token"})).await.unwrap();
    assert_eq!(secret.value, Some(json!("tok-other")));
    let drifted = json!({"key": "llm:main:2", "request": {"ask": "something else"}});
    assert!(world.resolve(&replay, drifted.clone()).await.unwrap().divergent);
    let again = world.resolve(&replay, drifted).await.unwrap();
    assert_eq!(again.value, Some(json!({"content": "ship it"})), "asking twice is the same");
    let done = world.complete("worker", &replay, json!({"price": 99})).await;
    assert_eq!(done.status, TaskState::Completed);
    let receipt = world.receipt(&replay).await;
    let keys: Vec<_> =
        receipt.deltas.unwrap().into_iter().filter_map(|delta| delta.override_key).collect();
    assert_eq!(keys, ["mcp:crm:1", "secret:token"]);
    let drift = receipt.metadata.get("request_drift").unwrap();
    assert_eq!(drift[0]["key"], "llm:main:2");
    let divergence = world.harness.divergence(&caller("boss"), &replay).await.unwrap();
    assert!(divergence.diverged);
    assert_eq!(divergence.output.source, Some(json!({"price": 49})));
    assert_eq!(divergence.output.replay, Some(json!({"price": 99})));
    assert_eq!(divergence.request_drift.len(), 1);
    let events = world.events(&replay).await;
    let given: Vec<_> = events.iter().filter(|event| event.replayed).collect();
    assert_eq!(given.len(), 4);
    let told = serde_json::to_string(&events).unwrap();
    assert!(!told.contains("tok-other"));
}

#[tokio::test]
async fn a_key_that_was_never_recorded_fails_the_replay_and_is_named() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = started(&world, &task, json!({})).await;
    world.resolve(&replay, json!({"key": "llm:main:1"})).await.unwrap();
    let missing = world.resolve(&replay, json!({"key": "llm:main:3"})).await.unwrap_err();
    assert_eq!(missing.code, HarnErrorCode::Conflict);
    assert_eq!(missing.details["first_unavailable"]["id"], "llm:main:3");
    let failed = world.settled(&replay).await;
    assert_eq!(failed.status, TaskState::Failed);
    let failure = failed.failure.unwrap();
    assert_eq!(failure.code, "replay_dependency_unavailable");
    assert_eq!(failure.details["first_unavailable"]["kind"], "llm_provider_response");
    let receipt = world.receipt(&replay).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert!(receipt.replay_input.unavailable_reason.unwrap().contains("llm:main:3"));
    let after = world.resolve(&replay, json!({"key": "llm:main:1"})).await.unwrap_err();
    assert_eq!(after.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn a_secret_of_which_only_the_hash_was_kept_is_named() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = started(&world, &task, json!({})).await;
    let missing = world.resolve(&replay, json!({"key": "secret:token"})).await.unwrap_err();
    assert_eq!(missing.details["first_unavailable"]["kind"], "secret_value");
    assert_eq!(missing.details["first_unavailable"]["override_key"], "secret:token");
    assert!(missing.details["first_unavailable"]["event_id"].is_string());
}

#[tokio::test]
async fn only_who_works_on_a_replay_for_workers_is_told_anything() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let refused = world.resolve(&task, json!({"key": "llm:main:1"})).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
    let replay = started(&world, &task, json!({})).await;
    let request = quipu_wire::harn::ResolveDependencyRequest::parse(json!({"key": "llm:main:1"}));
    let mut other = asked("other");
    other.caller.authority = 5;
    let other = world.harness.resolve_dependency(&other, &replay, request.unwrap()).await;
    assert_eq!(other.unwrap_err().code, HarnErrorCode::Conflict);
    let unknown = world.resolve("task_nope", json!({"key": "llm:main:1"})).await.unwrap_err();
    assert_eq!(unknown.code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn a_replay_that_is_called_off_has_a_receipt_that_says_so() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = started(&world, &task, json!({})).await;
    world.resolve(&replay, json!({"key": "llm:main:1"})).await.unwrap();
    let request = CancelTaskRequest { reason: Some("enough".to_owned()) };
    world.harness.cancel_task(&asked("boss"), &replay, request).await.unwrap();
    let canceled = world.settled(&replay).await;
    assert_eq!(canceled.status, TaskState::Canceled);
    assert_eq!(world.receipt(&replay).await.lifecycle.final_state, OutcomeStatus::Canceled);
    let late = world.resolve(&replay, json!({"key": "llm:main:1"})).await.unwrap_err();
    assert_eq!(late.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn a_workers_replay_is_a_recording_that_can_be_replayed() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let overrides = json!({"mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}}});
    let replay = started(&world, &task, overrides).await;
    for key in ["llm:main:1", "mcp:crm:1"] {
        world.resolve(&replay, json!({"key": key})).await.unwrap();
    }
    world.complete("worker", &replay, json!({"price": 1})).await;
    let again = world.replayed(&replay, json!({})).await;
    assert_eq!(again.status, TaskState::Completed);
    let divergence = world.harness.divergence(&caller("boss"), &again.envelope.id).await.unwrap();
    assert!(!divergence.diverged, "{divergence:?}");
    assert_eq!(divergence.output.replay, Some(json!({"price": 1})));
}

#[tokio::test]
async fn a_receipt_says_what_a_worker_asked_otherwise_or_never_and_how_else_it_ended() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    for key in ["llm:main:1", "mcp:crm:1", "llm:main:2"] {
        world.record(&task, key, json!({"content": key})).await;
    }
    world.complete("worker", &task, json!({"price": 49})).await;
    let replay = async |asks: &[(&str, &str)], output: serde_json::Value| {
        let replay = started(&world, &task, json!({})).await;
        for (key, ask) in asks {
            world.resolve(&replay, json!({"key": key, "request": {"ask": ask}})).await.unwrap();
        }
        world.complete("worker", &replay, output).await;
        let receipt = world.receipt(&replay).await;
        let deltas = receipt.deltas.unwrap();
        let told = deltas.into_iter().map(|it| (it.operation.as_str(), it.path));
        (receipt.replay_input.determinism.as_str(), told.collect::<Vec<_>>())
    };
    let all =
        [("llm:main:1", "llm:main:1"), ("mcp:crm:1", "mcp:crm:1"), ("llm:main:2", "llm:main:2")];
    let faithful = replay(&all, json!({"price": 49})).await;
    assert_eq!(faithful, ("byte_deterministic", Vec::new()));
    let path = |path: &str| format!("/replay_input/materials/{path}");
    let less = replay(&all[..2], json!({"price": 49})).await;
    assert_eq!(less, ("best_effort", vec![("remove", path("llm:main:2"))]));
    let mut other = all;
    other[0].1 = "something else";
    let other = replay(&other, json!({"price": 49})).await;
    assert_eq!(other, ("best_effort", vec![("replace", path("llm:main:1/request"))]));
    let ended = replay(&all, json!({"price": 1})).await;
    assert_eq!(ended, ("best_effort", vec![("replace", "/final_artifacts".to_owned())]));
    let failing = started(&world, &task, json!({})).await;
    for (key, ask) in all {
        world.resolve(&failing, json!({"key": key, "request": {"ask": ask}})).await.unwrap();
    }
    let failure = json!({"code": "broken", "message": "it broke"});
    let request = quipu_wire::harn::FailTaskRequest::parse(failure).unwrap();
    world.harness.fail_task(&asked("worker"), &failing, request).await.unwrap();
    let receipt = world.receipt(&failing).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert_eq!(receipt.lifecycle.failure.unwrap()["message"], "it broke");
    assert_eq!(receipt.replay_input.determinism.as_str(), "best_effort");
    let paths: Vec<_> = receipt.deltas.unwrap().into_iter().map(|delta| delta.path).collect();
    assert_eq!(paths, ["/lifecycle/final_state", "/lifecycle/failure", "/final_artifacts"]);
}
