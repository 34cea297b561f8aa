//! Requests as clients send them, also in the lenient forms of published clients.

use serde_json::{Value, json};

use crate::harn::*;

#[test]
fn a_task_is_submitted_with_a_message_an_object_or_plain_text() {
    let submit = |input: Value| {
        SubmitTaskRequest::parse(json!({"input": input}), Some("session_01")).unwrap().input
    };
    let said = TaskInput::Message(MessageInput::user("go"));
    assert_eq!(submit(json!("go")), said);
    assert_eq!(submit(json!({"text": "go"})), said);
    let parts = json!([{"type": "text", "text": "go"}]);
    assert_eq!(submit(json!({"role": "user", "parts": parts})), said);
    let own = json!({"text": "go", "n": 1});
    assert_eq!(serde_json::to_value(submit(own.clone())).unwrap(), own);
}

#[test]
fn the_session_of_a_task_comes_from_the_path_or_the_body() {
    let body = json!({"input": "go", "session_id": "session_02", "metadata": {"a": 1}});
    let request = SubmitTaskRequest::parse(body.clone(), None).unwrap();
    assert_eq!(request.session_id, "session_02");
    assert_eq!(request.metadata["a"], 1);
    let contradiction = SubmitTaskRequest::parse(body, Some("session_01")).unwrap_err();
    assert_eq!(contradiction.path, "session_id");
}

#[test]
fn an_absent_replay_body_is_an_exact_replay() {
    for body in [None, Some(json!({})), Some(json!({"mode": null}))] {
        assert_eq!(ReplayTaskRequest::parse(body).unwrap(), ReplayTaskRequest::default());
    }
}

#[test]
fn an_override_may_be_null_and_is_receipt_only_unless_it_says_otherwise() {
    let body = json!({"mode": "with_overrides", "reason": "what if",
                      "override": {"host:attune:1": {"kind": "host_fact", "value": null}}});
    let request = ReplayTaskRequest::parse(Some(body)).unwrap();
    let substitute = &request.overrides["host:attune:1"];
    assert_eq!(substitute.value, Some(Value::Null));
    assert_eq!(substitute.visibility, Visibility::ReceiptOnly);
    assert_eq!(request.reason.as_deref(), Some("what if"));
}

#[test]
fn a_patch_tells_null_from_absent() {
    let cleared = UpdatePersonaRequest::parse(json!({"quota_id": null})).unwrap();
    assert_eq!(cleared.quota_id, Change::Clear);
    let kept = UpdatePersonaRequest::parse(json!({"description": "d"})).unwrap();
    assert_eq!((kept.quota_id, kept.description.as_deref()), (Change::Keep, Some("d")));
    let set = UpdateSessionRequest::parse(json!({"summary": "s", "metadata": {}})).unwrap();
    assert_eq!(
        (set.summary, set.metadata),
        (Change::Set("s".to_owned()), Some(JsonObject::default()))
    );
}

#[test]
fn a_session_starts_with_messages_and_a_fork_needs_no_body() {
    let body = json!({"workspace_id": "workspace_01", "mode_id": "code",
                      "initial_messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]});
    let request = CreateSessionRequest::parse(body).unwrap();
    assert_eq!(request.initial_messages, [MessageInput::user("hi")]);
    assert_eq!(request.mode_id, Some(SessionMode::Code));
    assert_eq!(ForkSessionRequest::parse(None).unwrap(), ForkSessionRequest::default());
    assert_eq!(CancelTaskRequest::parse(None), Ok(CancelTaskRequest::default()));
    let canceled = CancelTaskRequest::parse(Some(json!({"reason": "late"}))).unwrap();
    assert_eq!(canceled.reason.as_deref(), Some("late"));
}

#[test]
fn an_artifact_is_registered_with_a_bare_digest() {
    let bare = Sha256::of(b"").bare();
    let body = json!({"kind": "log", "mime_type": "text/plain", "visibility": "public", "sha256": bare.to_uppercase()});
    assert_eq!(RegisterArtifactRequest::parse(body).unwrap().sha256, Some(Sha256::of(b"")));
}

#[test]
fn a_dependency_keeps_only_the_digest_of_what_was_asked_and_hides_secrets() {
    let body = json!({"key": "secret:token", "kind": "secret_value", "value": "s3cret", "visibility": "public",
                      "request": {"b": 1, "a": 2}});
    let request = RecordDependencyRequest::parse(body).unwrap();
    assert_eq!(request.visibility, Visibility::ReceiptOnly);
    assert_eq!(request.request, Some(Sha256::of(br#"{"a":2,"b":1}"#)));
    let asked =
        ResolveDependencyRequest::parse(json!({"key": "llm:main:1", "request": "q"})).unwrap();
    assert_eq!(asked.request, Some(Sha256::of(b"\"q\"")));
}

#[test]
fn a_worker_claims_appends_completes_and_fails() {
    let claim = |body| ClaimTaskRequest::parse(body).unwrap().lease_ms;
    assert_eq!(claim(None), LEASE_MS_DEFAULT);
    assert_eq!(claim(Some(json!({"lease_ms": 5}))), 5);
    let event =
        AppendEventRequest::parse(json!({"event": "agent.tool_use", "payload": {"t": 1}})).unwrap();
    assert_eq!(event.event, EventKind::AgentToolUse.into());
    let done = CompleteTaskRequest::parse(json!({"summary": "done", "output": null})).unwrap();
    assert_eq!(done.output, Some(Value::Null));
    assert_eq!(FailTaskRequest::parse(json!({"message": "m"})).unwrap().code, "task_failed");
    let point =
        RecordCheckpointRequest::parse(json!({"label": "before-send", "state": {"n": 1}})).unwrap();
    assert_eq!(point.state, Some(json!({"n": 1})));
}

#[test]
fn frames_of_a_client_are_read_with_their_key() {
    let frame =
        ClientFrame::parse(json!({"type": "cancel", "reason": "late", "idempotency_key": " k "}))
            .unwrap();
    assert_eq!(frame.command, ClientCommand::Cancel { reason: Some("late".to_owned()) });
    assert_eq!(frame.idempotency_key.unwrap().as_str(), "k");
    let resume = ClientFrame::parse(json!({"type": "resume", "cursor": "event_07"})).unwrap();
    assert_eq!(resume.command, ClientCommand::Resume { cursor: "event_07".to_owned() });
}
