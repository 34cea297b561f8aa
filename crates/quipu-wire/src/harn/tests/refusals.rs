//! What each request refuses, by the parameter that the refusal names.

use serde_json::{Value, json};

use crate::{harn::*, json::reader::ReadError};

/// Each body is refused at the path beside it.
#[track_caller]
fn refuses<T: std::fmt::Debug>(
    parse: impl Fn(Value) -> Result<T, ReadError>,
    cases: &[(Value, &str)],
) {
    for (body, path) in cases {
        let error: HarnError = parse(body.clone()).unwrap_err().into();
        assert_eq!(error.code, HarnErrorCode::InvalidRequest, "{body}");
        assert_eq!(error.param.as_deref(), Some(*path), "{body}: {}", error.message);
        assert!(error.message.contains(path), "{}", error.message);
    }
}

#[test]
fn replays_are_refused_where_mode_overrides_and_checkpoints_contradict() {
    let one = |fields: Value| json!({"mode": "with_overrides", "override": {"llm:main:1": fields}});
    refuses(
        |body| ReplayTaskRequest::parse(Some(body)),
        &[
            (json!({"mode": "live"}), "mode"),
            (json!({"override": {"k": {"kind": "time", "value": 1}}}), "override"),
            (json!({"override": []}), "override"),
            (json!({"mode": "from_checkpoint"}), "checkpoint_id"),
            (json!({"checkpoint_id": "artifact_01"}), "checkpoint_id"),
            (json!({"mode": "with_overrides", "checkpoint_event_id": "e"}), "checkpoint_event_id"),
            (json!({"metadata": []}), "metadata"),
            (one(json!(1)), "override.llm:main:1"),
            (one(json!({})), "override.llm:main:1.kind"),
            (one(json!({"kind": "wish", "value": 1})), "override.llm:main:1.kind"),
            (one(json!({"kind": "time"})), "override.llm:main:1.value"),
            (
                one(json!({"kind": "time", "value": 1, "sha256": "abc"})),
                "override.llm:main:1.sha256",
            ),
            (
                one(json!({"kind": "time", "value": 1, "visibility": "all"})),
                "override.llm:main:1.visibility",
            ),
            (
                one(json!({"kind": "time", "value": 1, "event_id": " "})),
                "override.llm:main:1.event_id",
            ),
        ],
    );
}

#[test]
fn tasks_sessions_and_messages_are_refused_by_their_parameter() {
    let part = |part: Value| json!({"message": {"role": "user", "parts": [part]}});
    refuses(
        |body| SubmitTaskRequest::parse(body, None),
        &[
            (json!({"input": "go"}), "session_id"),
            (json!({"session_id": "s"}), "input"),
            (json!({"session_id": "s", "input": 3}), "input"),
            (json!({"session_id": "s", "input": {"role": "user"}}), "input.parts"),
            (json!({"session_id": "s", "input": {"parts": []}}), "input.role"),
            (json!({"session_id": "s", "input": "go", "metadata": 1}), "metadata"),
        ],
    );
    refuses(
        AppendMessageRequest::parse,
        &[
            (json!({}), "message"),
            (part(json!({"text": "hi"})), "message.parts[0].type"),
            (part(json!({"type": "text"})), "message.parts[0].text"),
            (part(json!({"type": "json"})), "message.parts[0].value"),
            (
                part(json!({"type": "tool_call", "tool_call_id": "c", "name": "n"})),
                "message.parts[0].input",
            ),
            (
                part(json!({"type": "tool_result", "tool_call_id": "c", "output": 1})),
                "message.parts[0].status",
            ),
            (
                part(json!({"type": "text", "text": "hi", "visibility": "x"})),
                "message.parts[0].visibility",
            ),
        ],
    );
    let message = json!({"role": "user", "parts": []});
    refuses(AppendTaskMessageRequest::parse, &[(json!({"message": message}), "kind")]);
    refuses(
        CreateSessionRequest::parse,
        &[
            (json!({}), "workspace_id"),
            (json!({"workspace_id": "w", "skill_ids": ["a", ""]}), "skill_ids[1]"),
            (json!({"workspace_id": "w", "mode_id": "x"}), "mode_id"),
            (json!({"workspace_id": "w", "model_policy": {"provider": "p"}}), "model_policy.model"),
        ],
    );
}

#[test]
fn other_resources_are_refused_by_their_parameter() {
    let persona = json!({"name": "n", "version": "1", "entry_workflow": "main", "description": "d",
                         "autonomy_tier": "act_auto", "receipt_policy": "required"});
    for key in persona.as_object().unwrap().keys() {
        let mut lacking = persona.clone();
        lacking.as_object_mut().unwrap().remove(key);
        refuses(CreatePersonaRequest::parse, &[(lacking, key)]);
    }
    let mut wrong = persona;
    wrong["module_ref"] = json!("harn://owner/name");
    refuses(CreatePersonaRequest::parse, &[(wrong, "module_ref")]);
    refuses(
        CreateWorkspaceRequest::parse,
        &[(json!({"name": "n"}), "root"), (json!({"root": "r"}), "name")],
    );
    refuses(
        CreateBranchRequest::parse,
        &[(json!({"kind": "x"}), "kind"), (json!({"kind": "task"}), "base_ref")],
    );
    refuses(
        RegisterArtifactRequest::parse,
        &[
            (json!({"mime_type": "m", "visibility": "public"}), "kind"),
            (json!({"kind": "log", "mime_type": "m"}), "visibility"),
            (
                json!({"kind": "log", "mime_type": "m", "visibility": "public", "sha256": "sha256:00"}),
                "sha256",
            ),
        ],
    );
    let memory = json!({"scope": "tenant", "owner_id": "t", "content": 3, "provenance": {}});
    refuses(CreateMemoryRequest::parse, &[(memory, "content")]);
    refuses(CreateVaultRequest::parse, &[(json!({"provider": "p"}), "capabilities")]);
    refuses(
        |body| VerifyReceiptRequest::parse(Some(body)),
        &[(json!({"at_time": "noon"}), "at_time")],
    );
}

#[test]
fn work_is_refused_by_its_parameter() {
    refuses(|body| ClaimTaskRequest::parse(Some(body)), &[(json!({"lease_ms": 0}), "lease_ms")]);
    refuses(
        AppendEventRequest::parse,
        &[
            (json!({}), "event"),
            (json!({"event": "task.resumed"}), "event"),
            (json!({"event": "task.completed"}), "event"),
            (json!({"event": "agent.message", "payload": 1}), "payload"),
        ],
    );
    refuses(
        RecordDependencyRequest::parse,
        &[
            (json!({"key": "main", "kind": "time", "value": 1}), "key"),
            (json!({"key": "time:", "kind": "time", "value": 1}), "key"),
            (json!({"key": "Time:x", "kind": "time", "value": 1}), "key"),
            (json!({"key": "time:x", "value": 1}), "kind"),
            (json!({"key": "time:x", "kind": "time"}), "value"),
            (
                json!({"key": "time:x", "kind": "time", "value": 1, "artifact_id": "a"}),
                "artifact_id",
            ),
        ],
    );
    refuses(RecordCheckpointRequest::parse, &[(json!({"state": 1}), "label")]);
    refuses(CompleteTaskRequest::parse, &[(json!({"summary": " "}), "summary")]);
    refuses(FailTaskRequest::parse, &[(json!({"code": "c"}), "message")]);
    refuses(
        ClientFrame::parse,
        &[
            (json!({"type": "x"}), "type"),
            (json!({"type": "resume"}), "cursor"),
            (json!({"type": "message"}), "message"),
        ],
    );
}
