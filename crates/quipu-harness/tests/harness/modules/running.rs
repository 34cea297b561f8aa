//! Running: from the submission to the receipt, failing, and what a crash leaves behind.

use quipu_wire::harn::{ClaimTaskRequest, HarnErrorCode, TaskState};
use serde_json::{Value, json};

use super::pricing::PRICING;
use crate::replay::runs::{World, asked, caller};

#[tokio::test]
async fn a_module_asks_is_answered_and_returns_and_every_answer_is_recorded() {
    let world = World::with_modules().await;
    let task = world.submit_to(PRICING, json!({"customer": "Acme"})).await;
    let asks = world.asks(&task).await;
    assert_eq!(asks["key"], "host:tools.invoke:1");
    assert_eq!(
        (&asks["kind"], &asks["capability"]),
        (&json!("tool_result"), &json!("tools.invoke"))
    );
    assert_eq!(asks["arguments"], json!(["crm", {"customer": "Acme"}]));
    let claimed = ClaimTaskRequest::parse(None).unwrap();
    let held = world.harness.claim_task(&asked("bob"), &task, &claimed).await.unwrap_err();
    assert_eq!(held.code, HarnErrorCode::ResourceLocked, "nobody claims what the Field runs");
    let task = {
        world.answer(&task, json!({"tier": "gold"})).await;
        world.until_asks(&task, "llm:main:1").await;
        world.answer(&task, json!("a hundred")).await;
        world.until(&task, TaskState::Completed).await
    };
    let returned = json!({"tier": "gold", "word": "a hundred", "timed": true});
    assert_eq!(world.output(&task).await, returned);
    let events = world.events(&task.envelope.id).await;
    let keys: Vec<&str> =
        events.iter().filter_map(|event| event.payload.get("key")?.as_str()).collect();
    assert_eq!(keys, ["module:source", "time:1", "host:tools.invoke:1", "llm:main:1"]);
    let receipt = world.receipt(&task.envelope.id).await;
    assert_eq!(receipt.final_artifacts.len(), 1);
    let outcome = task.outcome_id.as_ref().unwrap();
    let outcome = world.harness.outcome(&caller("boss"), outcome).await.unwrap();
    let dataset = &outcome.artifacts[0].envelope.id;
    let content = world.harness.artifact_content(&caller("boss"), dataset).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&content.bytes).unwrap(), returned);
}

#[tokio::test]
async fn a_module_that_fails_fails_its_task_with_the_word_for_it() {
    let world = World::with_modules().await;
    for (source, code, word) in [
        ("pub fn price(input: any) { throw \"no price\" }", "module_failed", None),
        ("pub fn price(input: any) { while true { } }", "module_failed", Some("execution_fuel")),
        (
            "pub fn price(harness: Harness, input: any) { return harness.fs.read_text(\"/etc/passwd\") }",
            "module_failed",
            Some("capability_denied"),
        ),
    ] {
        let task = world.submit_to(source, json!("anything")).await;
        let task = world.until(&task, TaskState::Failed).await;
        let failure = task.failure.unwrap();
        assert_eq!(failure.code, code, "{source}: {}", failure.message);
        let said = failure.details.get("diagnostic").and_then(Value::as_str);
        assert!(word.is_none() || said == word, "{said:?}");
    }
}

#[tokio::test]
async fn a_secret_comes_from_a_vault_or_the_task_fails_and_nobody_is_asked_for_it() {
    let world = World::with_modules().await;
    let source =
        "pub fn price(harness: Harness, input: any) { return harness.secrets.read(\"token\") }";
    let artifact = world.source("text/x-harn", source).await;
    let mut body = super::pricing::persona(&artifact);
    body["metadata"]["capabilities"] = json!(["secrets.read"]);
    let persona = world.install(&asked("boss"), body).await.unwrap();
    let submit = json!({"session_id": "session_default", "persona_id": persona.envelope.id,
        "input": "x"});
    let request = quipu_wire::harn::SubmitTaskRequest::parse(submit, None).unwrap();
    let task = world.harness.submit_task(&asked("boss"), request).await.unwrap().task;
    let task = world.until(&task.envelope.id, TaskState::Failed).await;
    assert_eq!(task.failure.unwrap().code, "secret_unavailable");
}

#[tokio::test]
async fn a_task_that_a_crash_left_behind_is_run_when_the_field_is_opened_again() {
    let world = World::new().await;
    let task = world.submit_to(PRICING, json!({"customer": "Acme"})).await;
    let state = world.harness.task_state(&caller("boss"), &task);
    assert_eq!(state, Some(TaskState::Working), "nobody runs modules");
    let world = world.reopen().await;
    world.run_modules();
    world.answer(&task, json!({"tier": "tin"})).await;
    world.until_asks(&task, "host:tools.invoke:2").await;
    // It waits for an answer, and the answer comes while nobody runs modules.
    let world = world.reopen().await;
    world.answer(&task, json!({"name": "Ann"})).await;
    let world = world.reopen().await;
    world.run_modules();
    let task = world.until(&task, TaskState::Completed).await;
    assert_eq!(world.output(&task).await, json!({"by": "Ann"}));
}

#[tokio::test]
async fn a_canceled_task_is_not_run_on() {
    let world = World::with_modules().await;
    let task = world.submit_to(PRICING, json!({"customer": "Acme"})).await;
    world.asks(&task).await;
    let request = quipu_wire::harn::CancelTaskRequest::parse(None).unwrap();
    let task = world.harness.cancel_task(&asked("carol"), &task, request).await.unwrap();
    assert_eq!(task.status, TaskState::Canceled);
    let late = json!({"key": "host:tools.invoke:1", "kind": "tool_result", "value": {}});
    let refused = world.answer_as(&asked("bob"), &task.envelope.id, late).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
}
