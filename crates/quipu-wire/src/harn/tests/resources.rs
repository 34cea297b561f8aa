//! Each resource read from JSON of our own making and written again: not a member more, not one less.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::harn::*;

/// Reads `json` as a `T` and expects exactly the same to be written.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a literal reads better without a reference")]
fn shape<T: Serialize + DeserializeOwned>(json: Value) {
    let read: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), json);
}

fn resource(object: &str, own: Value) -> Value {
    let mut whole = json!({
        "id": format!("{object}_01"), "object": object, "metadata": {"x-team": "blue"},
        "created_at": "2026-05-01T08:00:00Z", "updated_at": "2026-05-01T08:00:01Z",
    });
    let Value::Object(own) = own else { panic!("own members are an object") };
    whole.as_object_mut().unwrap().extend(own);
    whole
}

fn message() -> Value {
    resource(
        "message",
        json!({"session_id": "session_01", "task_id": null, "role": "tool", "parts": [
            {"type": "text", "text": "hello", "visibility": "public"},
            {"type": "json", "value": null, "visibility": "internal"},
            {"type": "tool_call", "tool_call_id": "c1", "name": "grep", "input": {"q": "x"}, "visibility": "public"},
            {"type": "tool_result", "tool_call_id": "c1", "output": [1], "status": "ok", "visibility": "receipt_only"},
            {"type": "artifact_ref", "artifact_id": "artifact_01", "visibility": "public"},
            {"type": "file_ref", "uri": "file:a", "mime_type": "text/plain", "visibility": "public"},
            {"type": "image_ref", "artifact_id": "artifact_02", "mime_type": "image/png", "visibility": "public"},
        ]}),
    )
}

fn artifact() -> Value {
    resource(
        "artifact",
        json!({"kind": "dataset", "mime_type": "application/json", "uri": null, "visibility": "public",
               "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
               "workspace_id": "workspace_01", "session_id": null, "task_id": "task_01", "receipt_id": null}),
    )
}

fn failure() -> Value {
    json!({"code": "task_interrupted", "message": "the server stopped", "details": {}})
}

#[test]
fn tasks_sessions_and_messages_have_their_published_shape() {
    shape::<HarnTask>(resource(
        "task",
        json!({"session_id": "session_01", "workspace_id": "workspace_01", "status": "FAILED",
               "input": {"role": "user", "parts": [{"type": "text", "text": "go", "visibility": "public"}]},
               "created_by": "ada", "persona_id": null, "branch_id": null, "parent_task_id": "task_00",
               "assigned_agent_id": "worker-1", "receipt_id": "receipt_01", "outcome_id": "outcome_01",
               "quota_id": null, "started_at": "2026-05-01T08:00:00Z", "completed_at": "2026-05-01T08:00:01Z",
               "canceled_at": null, "failure": failure()}),
    ));
    shape::<HarnSession>(resource(
        "session",
        json!({"workspace_id": "workspace_01", "state": "IDLE", "transcript": "/v1/sessions/session_01/messages",
               "persona_id": null, "root_session_id": "session_01", "parent_session_id": null, "branch_id": null,
               "last_event_id": "event_07", "summary": "about it", "expires_at": null, "mode_id": "ask",
               "model_policy": {"provider": "p", "model": "m", "reasoning_effort": "low"},
               "live_clients": [], "live_controller_id": "c"}),
    ));
    shape::<Message>(message());
}

#[test]
fn events_have_their_published_shape_with_all_replay_members() {
    shape::<Event>(resource(
        "event",
        json!({"event": "agent.tool_use", "resource": {"object": "task", "id": "task_01"}, "sequence": 3,
               "payload": {"tool": "grep"}, "trace_id": null, "span_id": null, "session_id": "session_01",
               "task_id": "task_01", "workspace_id": "workspace_01", "actor": "ada", "idempotency_key": null,
               "previous_event_id": "event_02", "receipt_id": null, "replayed": true,
               "replay": {"source_task_id": "task_00", "replay_task_id": "task_01", "original_event_id": "event_00",
                          "replay_cursor": "r3", "mode": "with_overrides", "override_key": "llm:main:1",
                          "receipt_delta_id": "delta_llm_main_1"}}),
    ));
}

#[test]
fn what_work_leaves_behind_has_its_published_shape() {
    shape::<Artifact>(artifact());
    shape::<Outcome>(resource(
        "outcome",
        json!({"task_id": "task_01", "status": "CANCELED", "summary": "called off", "messages": [message()],
               "artifacts": [artifact()], "handoffs": [{"to": "bob"}], "receipt_id": "receipt_01",
               "failure": failure(), "cost": {}, "metrics": {"events": 3}}),
    ));
    shape::<ReceiptResource>(resource(
        "receipt",
        json!({"subject": {"object": "task", "id": "task_01"}, "format": "receipt-2026-04-25",
               "summary": "task_01 succeeded", "issued_at": "2026-05-01T08:00:01Z", "issuer": "harness_a",
               "wire": {"schema_version": "receipt-2026-04-25", "subject": {"object": "task", "id": "task_01"},
                        "issued_at": "2026-05-01T08:00:01Z", "payload": {},
                        "signature": {"algorithm": "ed25519", "key_id": "k", "value": "base64:AA=="}},
               "verification": {"valid": true, "checked_at": "2026-05-01T08:00:02Z", "reason": null, "details": {}}}),
    ));
}

#[test]
fn the_surroundings_of_work_have_their_published_shape() {
    shape::<Workspace>(resource(
        "workspace",
        json!({"name": "w", "root": "harn://w", "default_branch_id": null, "host": null, "repository": "r",
               "tenant_id": null, "capabilities": ["read"], "connectors": ["connector_01"], "quota_id": null}),
    ));
    shape::<Branch>(resource(
        "branch",
        json!({"workspace_id": "workspace_01", "kind": "sandbox", "base_ref": "main", "parent_branch_id": null,
               "session_id": "session_01", "task_id": null, "worktree_uri": null, "created_by": "ada",
               "merged_into": null}),
    ));
    shape::<Persona>(resource(
        "persona",
        json!({"name": "reviewer", "version": "1", "entry_workflow": "main", "description": "reviews",
               "autonomy_tier": "act_with_approval", "receipt_policy": "required", "tools": ["grep"],
               "capabilities": [], "triggers": [{}], "schedules": [], "handoffs": [], "context_packs": [],
               "evals": [], "owner": null, "model_policy": {}, "rollout_policy": {}, "quota_id": "quota_01"}),
    ));
    shape::<Memory>(resource(
        "memory",
        json!({"scope": "workspace", "owner_id": "workspace_01", "content": "SQLite is enough",
               "provenance": {"agent": "ada"}, "expires_at": null, "embedding_ref": null, "visibility": "public",
               "redaction_policy": {}, "confidence": 0.5}),
    ));
    let artifact = json!({"type": "artifact_ref", "artifact_id": "a", "visibility": "public"});
    for content in [artifact, json!({"fact": 1})] {
        shape::<MemoryContent>(content);
    }
    shape::<Vault>(resource(
        "vault",
        json!({"workspace_id": null, "provider": "file", "capabilities": ["read"]}),
    ));
    shape::<Connector>(resource(
        "connector",
        json!({"provider": "webhook", "workspace_id": "workspace_01", "status": "PAUSED",
               "event_kinds": ["webhook.received"], "dedupe_policy": {"by": "delivery_id"}, "auth": {"kind": "hmac"},
               "webhook": {"path": "/v1/connectors/connector_01/deliveries"}, "polling": {},
               "target_persona_id": null, "target_session_id": null}),
    ));
    shape::<Skill>(resource(
        "skill",
        json!({"name": "attune", "description": "ranks", "input_schema": {}, "output_schema": null, "source": null,
               "version": "1", "capabilities": [], "requires_approval": false, "deprecated": false}),
    ));
    shape::<Quota>(resource(
        "quota",
        json!({"scope": "organization", "limits": {"tasks": 5.0}, "usage": {"tasks": 1.0}, "reset_at": null,
               "hard_limit": true, "soft_limit": false, "exhaustion_reason": null, "last_receipt_id": null}),
    ));
}

#[test]
fn the_card_is_written_in_both_spellings() {
    let interface = json!([{"transport": "rest", "url": "/v1"}]);
    shape::<HarnAgentCard>(resource(
        "agent_card",
        json!({"name": "Quipu", "description": "memory", "protocol_version": "agents-protocol-2026-10-11",
               "a2a_card": {
                   "name": "Quipu", "description": "memory", "version": "1",
                   "supportedInterfaces": [{"url": "http://h/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}],
                   "preferredTransport": "HTTP+JSON",
                   "provider": {"organization": "o", "url": "http://h"},
                   "capabilities": {"streaming": true, "pushNotifications": false, "extensions": [], "extendedAgentCard": false},
                   "securitySchemes": {"bearer": {"type": "http"}}, "security": [{"bearer": []}],
                   "defaultInputModes": ["text/plain"], "defaultOutputModes": ["application/json"],
                   "skills": [{"id": "s", "name": "n", "description": "d", "tags": ["t"], "inputModes": ["text/plain"]}]},
               "skills": [], "harn_interfaces": interface, "interfaces": interface, "persona_ids": [],
               "capabilities": ["replay"], "auth_schemes": ["bearer"], "receipt_policy": "required", "quotas": [],
               "provider": {}, "public_url": null,
               "signature": {"algorithm": "ed25519", "key_id": "k", "value": "v"}}),
    ));
}

#[test]
fn what_the_server_says_of_itself_has_its_published_shape() {
    shape::<Discovery>(json!({
        "object": "protocol_discovery", "protocol_family": "harn_agents_protocol",
        "current_version": "agents-protocol-2026-04-25",
        "supported_versions": ["agents-protocol-2026-04-25", "agents-protocol-2026-10-11"],
        "capabilities": {"rest": true, "sse": true, "websocket": true, "receipts": true, "replay": true},
        "version": "0.1.0", "openapi": "/openapi.json", "resources": {"runtime": "/v1/runtime"}}));
    shape::<Health>(json!({"ok": true, "status": "ok", "version": "0.1.0"}));
    let version = "agents-protocol-2026-04-25";
    shape::<ServerVersion>(
        json!({"object": "version", "version": "0.1.0", "protocol_version": version}),
    );
    let capabilities = json!([{"id": "replay", "description": "runs again"}]);
    shape::<Runtime>(
        json!({"object": "runtime", "version": "0.1.0", "protocol_version": version, "adapter": "quipu",
        "session_count": 1, "task_count": 2, "capabilities": capabilities}),
    );
    shape::<CapabilitySummary>(
        json!({"object": "capability_summary", "capabilities": capabilities}),
    );
}

#[test]
fn a_list_says_where_it_ends_in_both_forms() {
    let page = List::page(vec![1, 2], Some("c1.task.7".to_owned()));
    let cursor = "c1.task.7";
    assert_eq!(
        serde_json::to_value(&page).unwrap(),
        json!({"object": "list", "data": [1, 2], "page": {"has_more": true, "next_cursor": cursor},
               "has_more": true, "next_cursor": cursor})
    );
    let last = serde_json::to_value(List::page(vec![3], None)).unwrap();
    assert_eq!((&last["has_more"], &last["page"]["next_cursor"]), (&json!(false), &Value::Null));
}

#[test]
fn an_error_has_all_members_of_its_envelope() {
    let error = HarnError::new(HarnErrorCode::Conflict, "task_01 is not over").at("task_id");
    let body = HarnErrorResponse { error };
    assert_eq!(
        serde_json::to_value(&body).unwrap(),
        json!({"error": {"code": "conflict", "message": "task_01 is not over", "type": "conflict_error",
                         "param": "task_id", "request_id": null, "details": {}}})
    );
}

#[test]
fn what_is_ours_has_its_documented_shape() {
    let digest = Sha256::of(b"x");
    shape::<ResolvedDependency>(
        json!({"key": "llm:main:1", "source": "overridden", "kind": "llm_provider_response",
        "value": {"content": "yes"}, "sha256": digest, "divergent": false}),
    );
    let side =
        json!({"event_id": "event_01", "event": "agent.message", "sequence": 4, "sha256": digest});
    shape::<Divergence>(
        json!({"object": "divergence", "source_task_id": "task_00", "replay_task_id": "task_01",
        "diverged": true, "events_compared": 5,
        "first_difference": {"index": 4, "source": side, "replay": null},
        "dependencies": [{"key": "llm:main:1", "source_sha256": digest, "replay_sha256": null, "overridden": true}],
        "request_drift": [{"key": "llm:main:2", "recorded": digest, "asked": null}],
        "output": {"equal": false, "source": 1, "replay": 2}}),
    );
    shape::<ServerFrame>(json!({"type": "input_required", "task_id": "task_01", "request": {}}));
    shape::<ServerFrame>(json!({"type": "ping"}));
}
