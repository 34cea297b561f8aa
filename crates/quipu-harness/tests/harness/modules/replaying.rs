//! Replaying: the module really runs, with the recorded answers or with others.

use quipu_wire::harn::{Determinism, HarnErrorCode, HarnTask, OutcomeStatus, TaskState};
use serde_json::{Value, json};

use crate::replay::runs::{World, caller};

fn tier(tier: &str) -> Value {
    json!({"mode": "with_overrides", "override": {
        "host:tools.invoke:1": {"kind": "tool_result", "value": {"tier": tier}}}})
}

async fn divergence(world: &World, task: &HarnTask) -> Value {
    let told = world.harness.divergence(&caller("boss"), &task.envelope.id).await.unwrap();
    serde_json::to_value(told).unwrap()
}

#[tokio::test]
async fn an_exact_replay_returns_the_same_and_diverges_in_nothing() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Completed);
    let told = divergence(&world, &replay).await;
    assert_eq!(told["diverged"], false, "{told}");
    assert_eq!(told["output"]["equal"], true);
    let (source, receipt) = (world.receipt(&task).await, world.receipt(&replay.envelope.id).await);
    assert_eq!(receipt.final_artifacts, source.final_artifacts);
    assert_eq!(receipt.replay_input.determinism, Determinism::ByteDeterministic);
}

#[tokio::test]
async fn a_substituted_answer_changes_the_output_and_both_are_shown() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let replay = world.replayed(&task, tier("silver")).await;
    assert_eq!(replay.status, TaskState::Completed);
    let other = json!({"tier": "silver", "word": "a hundred", "timed": true});
    assert_eq!(world.output(&replay).await, other);
    let told = divergence(&world, &replay).await;
    assert_eq!(told["diverged"], true);
    assert_eq!((&told["output"]["replay"], &told["output"]["equal"]), (&other, &json!(false)));
    assert_eq!(told["output"]["source"]["tier"], "gold");
    assert_eq!(told["request_drift"][0]["key"], "llm:main:1", "the question names the tier");
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.deltas.as_ref().unwrap().len(), 1);
    let source = world.receipt(&task).await;
    assert_ne!(receipt.final_artifacts, source.final_artifacts);
    // A replay of the replay has the substitute as its recording.
    let again = world.replayed(&replay.envelope.id, json!({})).await;
    assert_eq!(world.output(&again).await, other);
}

#[tokio::test]
async fn a_question_that_was_never_asked_fails_the_replay_and_is_named() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let replay = world.replayed(&task, tier("tin")).await;
    assert_eq!(replay.status, TaskState::Failed);
    let failure = replay.failure.clone().unwrap();
    assert_eq!(failure.code, "replay_dependency_unavailable");
    assert!(failure.message.contains("host:tools.invoke:2"), "{}", failure.message);
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert_eq!(receipt.replay_input.determinism, Determinism::Unavailable);
    let events = world.events(&replay.envelope.id).await;
    let replayed = events.iter().filter(|event| event.replayed);
    assert!(replayed.clone().all(|event| event.event.as_str() != "task.completed"));
    assert!(replayed.count() > 3);
    let told = divergence(&world, &replay).await;
    assert_eq!((&told["diverged"], &told["output"]["replay"]), (&json!(true), &Value::Null));
}

#[tokio::test]
async fn a_replay_goes_on_from_where_the_module_stopped() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let events = world.events(&task).await;
    let stopped: Vec<&str> =
        events.iter().filter_map(|event| event.payload.get("checkpoint_id")?.as_str()).collect();
    assert_eq!(stopped.len(), 2);
    let from = |checkpoint: &str| json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint});
    for checkpoint in stopped {
        let replay = world.replayed(&task, from(checkpoint)).await;
        assert_eq!(replay.status, TaskState::Completed, "{:?}", replay.failure);
        let told = divergence(&world, &replay).await;
        assert_eq!(told["output"]["equal"], true, "{told}");
    }
}

#[tokio::test]
async fn the_module_of_a_replay_is_the_one_that_ran() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let body = json!({"mode": "with_overrides", "override": {
        "module:source": {"kind": "host_fact", "value": "pub fn price(input: any) { return 1 }"}}});
    let refused = world.replay(&task, body).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::InvalidRequest);
}

#[tokio::test]
async fn a_task_that_is_taken_elsewhere_takes_its_module_along() {
    let (here, there) = (World::with_modules().await, World::new().await);
    let task = here.priced().await;
    let export = here.harness.export_task(&caller("boss"), &task).await.unwrap();
    let boss = crate::replay::runs::asked("boss");
    there.harness.import_task(&boss, export).await.unwrap();
    let replay = there.replayed(&task, tier("silver")).await;
    assert_eq!(replay.status, TaskState::Completed, "{:?}", replay.failure);
    assert_eq!(there.output(&replay).await["tier"], "silver");
}

#[tokio::test]
async fn what_was_brought_under_the_id_of_an_output_keeps_no_replay_from_ending() {
    let (elsewhere, world) = (World::new().await, World::with_modules().await);
    let task = world.priced().await;
    // An Artifact of another server has the id that the replay's output is to have.
    let (other, _) = elsewhere.run().await;
    let mut export = elsewhere.harness.export_task(&caller("boss"), &other).await.unwrap();
    let taken = task.replacen("task_", "artifact_replay_", 1);
    export.artifacts[0].artifact.envelope.id.clone_from(&taken);
    export.artifacts.truncate(1);
    (export.receipt, export.task.receipt_id) = (None, None);
    let boss = crate::replay::runs::asked("boss");
    world.harness.import_task(&boss, export).await.unwrap();
    let replay = world.replay(&task, tier("silver")).await.unwrap();
    world.harness.run_replay(&replay.envelope.id).await.unwrap();
    let replay = world.settled(&replay.envelope.id).await;
    assert_eq!(replay.status, TaskState::Completed, "{:?}", replay.failure);
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.final_artifacts[0].artifact_id, format!("{taken}_2"));
}

#[tokio::test]
async fn a_strict_replay_of_a_module_fails_where_it_asks_something_else_and_only_there() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    let same = world.replayed(&task, json!({"strict": true})).await;
    assert_eq!(same.status, TaskState::Completed, "{:?}", same.failure);
    let mut other = tier("silver");
    other["strict"] = json!(true);
    let drifted = world.replayed(&task, other).await;
    let failure = drifted.failure.clone().unwrap();
    assert_eq!((drifted.status, failure.code.as_str()), (TaskState::Failed, "replay_drifted"));
    let drift = &failure.details["first_drift"];
    assert_eq!((&drift["what"], &drift["key"]), (&json!("request"), &json!("llm:main:1")));
    assert!(drift["event_id"].is_string(), "{drift}");
    let receipt = world.receipt(&drifted.envelope.id).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
}
