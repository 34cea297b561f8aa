//! What a Persona's autonomy means for the tools of its workers, and who agrees to their use.

use quipu_harness::{Harness, Page, PermissionFilter};
use quipu_wire::harn::{
    AppendEventRequest, AppendTaskMessageRequest, AwaitTaskRequest, HarnError, HarnErrorCode,
    PermissionRequest, PermissionResponseRequest, PermissionStatus, RecordDependencyRequest,
    ResourceKind, TaskState,
};
use serde_json::{Value, json};

use crate::support::{asked, caller, claim, complete, harness, persona_of, submit};

async fn claimed(harness: &Harness, autonomy: &str) -> String {
    let persona = persona_of(harness, autonomy).await;
    let id = submit(harness, json!({"persona_id": persona, "input": "price it"})).await;
    claim(harness, &id).await;
    id
}

async fn tell(harness: &Harness, task: &str, event: &str, tool: &str) -> Result<(), HarnError> {
    let body = json!({"event": event, "payload": {"name": tool}});
    let request = AppendEventRequest::parse(body).unwrap();
    harness.append_event(&asked("bob"), task, request).await.map(|_| ())
}

async fn answer(harness: &Harness, task: &str, key: &str) -> Result<(), HarnError> {
    answer_of(harness, task, key, "mcp_tool_return").await
}

async fn answer_of(harness: &Harness, task: &str, key: &str, kind: &str) -> Result<(), HarnError> {
    let body = json!({"key": key, "kind": kind, "value": 1});
    let request = RecordDependencyRequest::parse(body).unwrap();
    harness.record_dependency(&asked("bob"), task, request).await.map(|_| ())
}

async fn respond(harness: &Harness, question: &str, approved: bool) {
    let answer = PermissionResponseRequest::parse(json!({"approved": approved})).unwrap();
    harness.respond_permission(&asked("alice"), question, answer).await.unwrap();
}

async fn confirm(harness: &Harness, agent: &str, task: &str, part: Value) -> Result<(), HarnError> {
    let message = json!({"role": "user", "parts": [part]});
    let body = json!({"kind": "tool_confirmation", "message": message});
    let request = AppendTaskMessageRequest::parse(body).unwrap();
    harness.append_task_message(&asked(agent), task, request).await.map(|_| ())
}

async fn questions(harness: &Harness, task: &str) -> Vec<PermissionRequest> {
    let filter = PermissionFilter { session: None, task: Some(task.to_owned()) };
    let page = Page::first(ResourceKind::PermissionRequest);
    harness.permission_requests(&caller("alice"), page, filter).await.unwrap().data
}

async fn status(harness: &Harness, task: &str) -> TaskState {
    harness.task(&caller("alice"), task).await.unwrap().status
}

/// The question that a refusal names.
fn question(refused: &HarnError) -> String {
    assert_eq!(refused.code, HarnErrorCode::PolicyViolation, "{}", refused.message);
    refused.details["permission_request_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_tool_is_used_once_somebody_agreed_and_then_for_the_rest_of_the_task() {
    let harness = harness();
    let id = claimed(&harness, "act_with_approval").await;
    tell(&harness, &id, "agent.message", "none").await.unwrap();
    let asked_first = question(&tell(&harness, &id, "agent.tool_use", "crm").await.unwrap_err());
    assert_eq!(status(&harness, &id).await, TaskState::AuthRequired);
    let again = question(&answer(&harness, &id, "mcp:crm:1").await.unwrap_err());
    assert_eq!((again, questions(&harness, &id).await.len()), (asked_first.clone(), 1));
    respond(&harness, &asked_first, true).await;
    assert_eq!(status(&harness, &id).await, TaskState::Working);
    tell(&harness, &id, "agent.tool_use", "crm").await.unwrap();
    answer(&harness, &id, "mcp:crm:1").await.unwrap();
    answer(&harness, &id, "mcp:crm:2").await.unwrap();
    let other = question(&answer(&harness, &id, "mcp:mail:1").await.unwrap_err());
    assert_ne!(other, asked_first);
}

#[tokio::test]
async fn an_answer_of_a_tool_is_one_whatever_it_is_called() {
    let harness = harness();
    let id = claimed(&harness, "act_with_approval").await;
    let mut asked = Vec::new();
    for (key, kind) in
        [("mcp:crm:1", "host_fact"), ("tool:crm:2", "host_fact"), ("x:crm:3", "tool_result")]
    {
        asked.push(question(&answer_of(&harness, &id, key, kind).await.unwrap_err()));
    }
    assert_eq!(questions(&harness, &id).await.len(), 1, "{asked:?}");
    let id = claimed(&harness, "suggest").await;
    let refused = answer_of(&harness, &id, "mcp:crm:1", "host_fact").await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PolicyViolation);
}

#[tokio::test]
async fn a_tool_that_was_denied_stays_so_until_its_worker_asks_again() {
    let harness = harness();
    let id = claimed(&harness, "act_with_approval").await;
    let first = question(&tell(&harness, &id, "tool.requested", "mail").await.unwrap_err());
    respond(&harness, &first, false).await;
    assert_eq!(status(&harness, &id).await, TaskState::Working);
    let refused = tell(&harness, &id, "agent.tool_use", "mail").await.unwrap_err();
    assert!(refused.message.contains("denied"), "{}", refused.message);
    assert_eq!(question(&refused), first);
    let body = json!({"for": "auth", "reason": "please", "class": "exec", "action": "use_tool",
        "target": "mail"});
    let ask = AwaitTaskRequest::parse(body).unwrap();
    harness.await_answer(&asked("bob"), &id, ask).await.unwrap();
    let second = questions(&harness, &id).await.last().unwrap().envelope.id.clone();
    respond(&harness, &second, true).await;
    tell(&harness, &id, "agent.tool_use", "mail").await.unwrap();
}

#[tokio::test]
async fn a_worker_neither_agrees_for_others_nor_asks_for_a_task_that_is_not_its_own() {
    let harness = harness();
    let id = claimed(&harness, "act_with_approval").await;
    for event in ["tool.approved", "tool.denied"] {
        let refused = tell(&harness, &id, event, "crm").await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::PolicyViolation, "{event}");
    }
    let body = json!({"event": "agent.tool_use", "payload": {"name": "crm"}});
    let request = AppendEventRequest::parse(body).unwrap();
    let stranger = harness.append_event(&asked("eve"), &id, request).await.unwrap_err();
    assert_eq!(stranger.code, HarnErrorCode::Conflict);
    assert!(questions(&harness, &id).await.is_empty());
    let crm = question(&tell(&harness, &id, "agent.tool_use", "crm").await.unwrap_err());
    let own = PermissionResponseRequest::parse(json!({"approved": true})).unwrap();
    let own = harness.respond_permission(&asked("bob"), &crm, own).await.unwrap_err();
    assert_eq!(own.code, HarnErrorCode::PermissionDenied);
}

#[tokio::test]
async fn a_persona_that_suggests_asks_for_tools_and_uses_none() {
    let harness = harness();
    let id = claimed(&harness, "suggest").await;
    tell(&harness, &id, "tool.requested", "crm").await.unwrap();
    for refused in [
        tell(&harness, &id, "agent.tool_use", "crm").await,
        tell(&harness, &id, "tool.completed", "crm").await,
        answer(&harness, &id, "mcp:crm:1").await,
    ] {
        assert_eq!(refused.unwrap_err().code, HarnErrorCode::PolicyViolation);
    }
    complete(&harness, &id).await;
}

#[tokio::test]
async fn a_tool_confirmation_is_the_answer_to_what_the_task_asked() {
    let harness = harness();
    let yes = json!({"type": "text", "text": "go on", "visibility": "public"});
    let no = json!({"type": "json", "value": {"approved": false}, "visibility": "public"});
    for (part, word) in [(yes, PermissionStatus::Approved), (no, PermissionStatus::Denied)] {
        let id = claimed(&harness, "act_with_approval").await;
        question(&tell(&harness, &id, "agent.tool_use", "crm").await.unwrap_err());
        let own = confirm(&harness, "bob", &id, part.clone()).await.unwrap_err();
        assert_eq!(own.code, HarnErrorCode::PermissionDenied, "whoever asks does not decide");
        confirm(&harness, "alice", &id, part.clone()).await.unwrap();
        assert_eq!(status(&harness, &id).await, TaskState::Working);
        let asked = questions(&harness, &id).await;
        assert_eq!(asked.iter().map(|each| each.status).collect::<Vec<_>>(), [word]);
        assert_eq!(asked[0].response["reviewer"], "alice");
        let used = tell(&harness, &id, "agent.tool_use", "crm").await;
        assert_eq!(used.is_ok(), word == PermissionStatus::Approved);
        confirm(&harness, "alice", &id, part).await.unwrap();
    }
}
