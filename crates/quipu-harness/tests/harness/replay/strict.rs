//! Strict replays: the first drift fails them, and is named with its place.

use quipu_wire::harn::{CompleteTaskRequest, HarnError, HarnErrorCode, OutcomeStatus, TaskState};
use serde_json::{Value, json};

use super::runs::{World, asked};

async fn strict(world: &World, task: &str) -> String {
    let body = json!({"strict": true, "metadata": {"executor": "worker"}});
    let replay = world.replay(task, body).await.unwrap().envelope.id;
    world.claim("worker", &replay).await;
    replay
}

async fn ask_all(world: &World, replay: &str, but: &str) {
    for key in ["time:started_at", "llm:main:1", "mcp:crm:1", "llm:main:2"] {
        if key != but {
            world.resolve(replay, json!({"key": key, "request": {"ask": key}})).await.unwrap();
        }
    }
}

async fn complete(world: &World, replay: &str, output: Value) -> Result<(), HarnError> {
    let request = CompleteTaskRequest::parse(json!({"summary": "done", "output": output})).unwrap();
    world.harness.complete_task(&asked("worker"), replay, request).await.map(drop)
}

/// The drift that a refusal and the Task both name.
async fn named(world: &World, replay: &str, refused: HarnError) -> Value {
    assert_eq!(refused.code, HarnErrorCode::Conflict);
    let task = world.settled(replay).await;
    let failure = task.failure.unwrap();
    assert_eq!((task.status, failure.code.as_str()), (TaskState::Failed, "replay_drifted"));
    assert_eq!(refused.details, failure.details);
    assert_eq!(world.receipt(replay).await.lifecycle.final_state, OutcomeStatus::Failed);
    failure.details["first_drift"].clone()
}

#[tokio::test]
async fn a_strict_replay_that_does_the_same_completes() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = strict(&world, &task).await;
    ask_all(&world, &replay, "").await;
    complete(&world, &replay, json!({"price": 49})).await.unwrap();
    assert_eq!(world.settled(&replay).await.status, TaskState::Completed);
}

#[tokio::test]
async fn another_question_fails_it_at_once_and_names_the_key_and_the_event() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = strict(&world, &task).await;
    world.resolve(&replay, json!({"key": "llm:main:1"})).await.unwrap();
    let other = json!({"key": "mcp:crm:1", "request": {"ask": "somebody else"}});
    let refused = world.resolve(&replay, other).await.unwrap_err();
    let drift = named(&world, &replay, refused).await;
    assert_eq!((&drift["what"], &drift["key"]), (&json!("request"), &json!("mcp:crm:1")));
    let recorded = world.events(&task).await;
    let recorded = recorded.iter().find(|it| it.payload.get("key") == Some(&json!("mcp:crm:1")));
    assert_eq!(drift["event_id"], json!(recorded.unwrap().envelope.id));
    assert!(drift["recorded"].is_string() && drift["recorded"] != drift["asked"]);
    let receipt = world.receipt(&replay).await;
    assert_eq!(receipt.metadata.get("request_drift").unwrap()[0]["key"], "mcp:crm:1");
    let late = world.resolve(&replay, json!({"key": "llm:main:2"})).await.unwrap_err();
    assert_eq!(late.code, HarnErrorCode::Conflict, "it has ended");
}

#[tokio::test]
async fn a_question_that_was_left_out_fails_it_when_it_would_complete() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = strict(&world, &task).await;
    ask_all(&world, &replay, "mcp:crm:1").await;
    let refused = complete(&world, &replay, json!({"price": 49})).await.unwrap_err();
    let drift = named(&world, &replay, refused).await;
    assert_eq!((&drift["what"], &drift["key"]), (&json!("not_asked"), &json!("mcp:crm:1")));
}

#[tokio::test]
async fn another_output_fails_it() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = strict(&world, &task).await;
    ask_all(&world, &replay, "").await;
    let refused = complete(&world, &replay, json!({"price": 50})).await.unwrap_err();
    let drift = named(&world, &replay, refused).await;
    assert_eq!((&drift["what"], &drift["key"]), (&json!("output"), &Value::Null));
}

#[tokio::test]
async fn who_does_not_work_on_a_strict_replay_cannot_fail_it() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = strict(&world, &task).await;
    let mut other = asked("other");
    other.caller.authority = 5;
    let request = CompleteTaskRequest::parse(json!({"summary": "x", "output": 1})).unwrap();
    let refused = world.harness.complete_task(&other, &replay, request).await.unwrap_err();
    assert!(refused.details.is_empty(), "{refused:?}");
    assert_eq!(world.settled(&replay).await.status, TaskState::Working);
}

#[tokio::test]
async fn a_replay_that_is_not_strict_goes_on_after_a_drift_as_before() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let body = json!({"metadata": {"executor": "worker", "strict": false}});
    let replay = world.replay(&task, body).await.unwrap().envelope.id;
    world.claim("worker", &replay).await;
    let other = json!({"key": "mcp:crm:1", "request": {"ask": "somebody else"}});
    assert!(world.resolve(&replay, other).await.unwrap().divergent);
    complete(&world, &replay, json!({"price": 50})).await.unwrap();
    let wrong = world.replay(&task, json!({"metadata": {"strict": "yes"}})).await.unwrap_err();
    assert_eq!(wrong.param.as_deref(), Some("metadata.strict"));
}
