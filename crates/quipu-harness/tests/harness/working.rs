//! What workers do with Tasks, and what happens where two want the same one or one is lost.

use quipu_harness::{EventScope, Harness};
use quipu_wire::harn::{
    AppendEventRequest, ClaimTaskRequest, CompleteTaskRequest, FailTaskRequest, HarnError,
    HarnErrorCode, HarnTask, RecordCheckpointRequest, RecordDependencyRequest, TaskState,
};
use serde_json::{Value, json};

use crate::support::{asked, caller, claim, complete, harness, persona, persona_of, submit, texts};

async fn task(harness: &Harness) -> String {
    let persona = persona(harness, "required").await;
    submit(harness, json!({"persona_id": persona, "input": "price it"})).await
}

async fn claim_as(
    harness: &Harness,
    agent: &str,
    task: &str,
    lease_ms: u64,
) -> Result<HarnTask, HarnError> {
    let request = ClaimTaskRequest { lease_ms, agent_id: None };
    harness.claim_task(&asked(agent), task, &request).await
}

async fn complete_as(harness: &Harness, agent: &str, task: &str) -> Result<HarnTask, HarnError> {
    let request = CompleteTaskRequest::parse(json!({"summary": "done"})).unwrap();
    harness.complete_task(&asked(agent), task, request).await
}

async fn record_as(
    harness: &Harness,
    task: &str,
    body: Value,
) -> Result<quipu_harness::Recorded, HarnError> {
    let request = RecordDependencyRequest::parse(body).unwrap();
    harness.record_dependency(&asked("bob"), task, request).await
}

async fn guess_as_eve(harness: &Harness, task: &str, body: Value) -> HarnError {
    let request = RecordDependencyRequest::parse(body).unwrap();
    harness.record_dependency(&asked("eve"), task, request).await.unwrap_err()
}

async fn told(harness: &Harness, task: &str) -> Vec<Value> {
    let list = harness.events(&caller("alice"), EventScope::task(task), None, 200).await.unwrap();
    list.data.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[tokio::test]
async fn of_two_claims_at_once_one_holds_and_the_other_is_told_that_it_is_locked() {
    let harness = harness();
    let id = task(&harness).await;
    let (one, other) = tokio::join!(
        claim_as(&harness, "bob", &id, 60_000),
        claim_as(&harness, "eve", &id, 60_000)
    );
    let (held, refused) = if one.is_ok() { (one, other) } else { (other, one) };
    assert_eq!(held.unwrap().status, TaskState::Working);
    assert_eq!(refused.unwrap_err().code, HarnErrorCode::ResourceLocked);
    let started = told(&harness, &id).await;
    let started = started.iter().filter(|event| event["event"] == "task.started").count();
    assert_eq!(started, 1);
}

#[tokio::test]
async fn claiming_again_renews_and_is_told_by_nothing() {
    let harness = harness();
    let id = task(&harness).await;
    let first = claim_as(&harness, "bob", &id, 60_000).await.unwrap();
    let before = told(&harness, &id).await;
    let again = claim_as(&harness, "bob", &id, 60_000).await.unwrap();
    assert_eq!((again.assigned_agent_id, again.status), (first.assigned_agent_id, first.status));
    assert_eq!(told(&harness, &id).await, before);
}

#[tokio::test]
async fn a_worker_that_is_lost_loses_the_task_and_its_late_word_does_not_count() {
    let harness = harness();
    let id = task(&harness).await;
    // Scripted time goes on by a millisecond whenever somebody looks at the clock.
    claim_as(&harness, "bob", &id, 1).await.unwrap();
    for _ in 0..50 {
        harness.field().origin().now_ms();
    }
    let taken = claim_as(&harness, "eve", &id, 600_000).await.unwrap();
    assert_eq!(taken.assigned_agent_id.as_deref(), Some("eve"));
    assert_eq!(taken.status, TaskState::Working, "work had begun");
    let late = complete_as(&harness, "bob", &id).await.unwrap_err();
    assert_eq!(late.code, HarnErrorCode::Conflict);
    assert!(late.message.contains("claim it first"), "{}", late.message);
    assert_eq!(complete_as(&harness, "eve", &id).await.unwrap().status, TaskState::Completed);
}

#[tokio::test]
async fn nobody_works_on_what_it_has_not_claimed_or_what_has_ended() {
    let harness = harness();
    let id = task(&harness).await;
    assert_eq!(complete_as(&harness, "bob", &id).await.unwrap_err().code, HarnErrorCode::Conflict);
    claim(&harness, &id).await;
    let event = json!({"event": "agent.message", "payload": {"text": "hello"}});
    let event = || AppendEventRequest::parse(event.clone()).unwrap();
    let refused = harness.append_event(&asked("eve"), &id, event()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
    harness.append_event(&asked("bob"), &id, event()).await.unwrap();
    complete(&harness, &id).await;
    let before = told(&harness, &id).await;
    for agent in ["bob", "eve"] {
        let refused = harness.append_event(&asked(agent), &id, event()).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::Conflict);
        assert_eq!(
            claim_as(&harness, agent, &id, 1000).await.unwrap_err().code,
            HarnErrorCode::Conflict
        );
    }
    let none = harness.append_event(&asked("bob"), "task_none", event()).await.unwrap_err();
    assert_eq!(none.code, HarnErrorCode::ResourceNotFound);
    assert_eq!(told(&harness, &id).await, before);
}

#[tokio::test]
async fn a_run_is_told_from_its_submission_to_its_receipt() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    record_as(
        &harness,
        &id,
        json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": 1}),
    )
    .await
    .unwrap();
    complete(&harness, &id).await;
    let told = told(&harness, &id).await;
    let names: Vec<_> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "task.submitted",
            "task.started",
            "vendor.dependency.recorded",
            "artifact.created",
            "session.message_appended",
            "task.completed",
            "artifact.created",
            "receipt.issued",
        ]
    );
    for pair in told.windows(2) {
        assert_eq!(pair[1]["previous_event_id"], pair[0]["id"]);
        assert!(pair[1]["sequence"].as_u64() > pair[0]["sequence"].as_u64());
    }
    let task = harness.task(&caller("alice"), &id).await.unwrap();
    assert_eq!(task.status, TaskState::Completed);
    assert!(task.outcome_id.is_some() && task.receipt_id.is_some() && task.completed_at.is_some());
}

#[tokio::test]
async fn a_failure_says_why_in_its_task() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    let body = json!({"code": "no_price", "message": "nobody knows", "details": {"asked": 3}});
    let request = FailTaskRequest::parse(body).unwrap();
    let task = harness.fail_task(&asked("bob"), &id, request).await.unwrap();
    let failure = serde_json::to_value(task.failure.unwrap()).unwrap();
    assert_eq!((task.status, &failure["code"]), (TaskState::Failed, &json!("no_price")));
    assert_eq!(failure["details"], json!({"asked": 3}));
}

#[tokio::test]
async fn a_key_has_one_answer_and_the_same_one_again_changes_nothing() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    let body = |value: Value| json!({"key": "mcp:crm:1", "kind": "mcp_tool_return", "request": {"q": 1}, "value": value});
    let first = record_as(&harness, &id, body(json!({"tier": "gold"}))).await.unwrap();
    let again = record_as(&harness, &id, body(json!({"tier": "gold"}))).await.unwrap();
    assert_eq!((first.again, again.again), (false, true));
    assert_eq!(first.dependency, again.dependency);
    let other = record_as(&harness, &id, body(json!({"tier": "tin"}))).await.unwrap_err();
    assert_eq!((other.code, other.param.as_deref()), (HarnErrorCode::Conflict, Some("key")));
    complete(&harness, &id).await;
    let late = record_as(&harness, &id, body(json!({"tier": "gold"}))).await.unwrap();
    assert!(late.again, "a retry after the end finds what it recorded");
    let missing = json!({"key": "host:a:1", "kind": "host_fact", "artifact_id": "artifact_none"});
    let refused = record_as(&harness, &id, missing).await.unwrap_err();
    assert_eq!((refused.code.http_status(), refused.param.as_deref()), (404, Some("artifact_id")));
}

#[tokio::test]
async fn who_does_not_work_on_a_task_cannot_find_out_its_secrets_by_guessing() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    let body = |guess: &str| json!({"key": "secret:token", "kind": "secret_value", "value": guess});
    record_as(&harness, &id, body("tok-1")).await.unwrap();
    for ended in [false, true] {
        if ended {
            complete(&harness, &id).await;
        }
        let right = guess_as_eve(&harness, &id, body("tok-1")).await;
        let wrong = guess_as_eve(&harness, &id, body("tok-2")).await;
        assert_eq!(right.code, HarnErrorCode::Conflict, "ended: {ended}");
        assert_eq!(right, wrong, "ended: {ended}");
    }
}

#[tokio::test]
async fn a_secret_leaves_only_what_tells_it_apart() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    let body = json!({"key": "secret:token", "kind": "secret_value", "value": "tok-canary-1", "visibility": "public"});
    let recorded = record_as(&harness, &id, body.clone()).await.unwrap().dependency;
    let plain = quipu_wire::harn::Sha256::of_json(&json!("tok-canary-1")).unwrap();
    assert!(recorded.sha256.is_some_and(|digest| digest != plain));
    assert!(record_as(&harness, &id, body).await.unwrap().again);
    let event = json!({"event": "agent.message", "payload": {"text": "tok-canary-2"}, "visibility": "receipt_only"});
    let request = AppendEventRequest::parse(event).unwrap();
    harness.append_event(&asked("bob"), &id, request).await.unwrap();
    complete(&harness, &id).await;
    assert!(!texts(&harness).contains("tok-canary"));
    assert!(!serde_json::to_string(&told(&harness, &id).await).unwrap().contains("tok-canary"));
}

#[tokio::test]
async fn a_checkpoint_is_a_snapshot_with_its_state() {
    let harness = harness();
    let id = task(&harness).await;
    claim(&harness, &id).await;
    let body = json!({"label": "after-crm", "state": {"b": 1, "a": [true]}});
    let request = RecordCheckpointRequest::parse(body).unwrap();
    let artifact = harness.record_checkpoint(&asked("bob"), &id, request).await.unwrap();
    let canonical = quipu_wire::harn::Sha256::of(br#"{"a":[true],"b":1}"#);
    assert_eq!(artifact.sha256, Some(canonical.bare()));
    assert_eq!(artifact.kind.as_str(), "snapshot");
    let told = told(&harness, &id).await;
    let made = told.iter().find(|event| event["event"] == "vendor.checkpoint.created").unwrap();
    assert_eq!(made["payload"]["checkpoint_id"], artifact.envelope.id.as_str());
    assert_eq!(made["payload"]["label"], "after-crm");
    let bare = RecordCheckpointRequest::parse(json!({"label": "bare"})).unwrap();
    let bare = harness.record_checkpoint(&asked("bob"), &id, bare).await.unwrap();
    assert!(bare.sha256.is_none() && bare.uri.is_none());
    assert_ne!(bare.envelope.id, artifact.envelope.id);
}

#[tokio::test]
async fn a_persona_that_only_watches_uses_no_tools() {
    let harness = harness();
    let persona = persona_of(&harness, "shadow").await;
    let id = submit(&harness, json!({"persona_id": persona, "input": "watch"})).await;
    claim(&harness, &id).await;
    let event = |name: &str| AppendEventRequest::parse(json!({"event": name})).unwrap();
    let refused = harness.append_event(&asked("bob"), &id, event("agent.tool_use")).await;
    assert_eq!(refused.unwrap_err().code, HarnErrorCode::PolicyViolation);
    let tool = json!({"key": "mcp:a:1", "kind": "mcp_tool_return", "value": 1});
    let refused = record_as(&harness, &id, tool).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PolicyViolation);
    harness.append_event(&asked("bob"), &id, event("agent.message")).await.unwrap();
}
