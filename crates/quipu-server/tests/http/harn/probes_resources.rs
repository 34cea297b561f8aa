//! What the protocol's own suite asserts about every other resource. Each test is named after its probe.

use serde_json::{Value, json};

use super::run::{Run, check_event, check_resource};

/// SHA-256 of nothing, bare as an Artifact has it.
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Makes a resource of a kind.
fn create(run: &mut Run, path: &str, object: &str, body: &Value) -> Value {
    let reply = run.client.post(path, body);
    assert!([200, 201].contains(&reply.status), "{path}: {} {}", reply.status, reply.text());
    check_resource(&reply.json(), object)
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}

fn message(text: &str) -> Value {
    json!({"role": "user", "parts": [{"type": "text", "text": text, "visibility": "public"}]})
}

fn workspace(run: &mut Run) -> String {
    let body = json!({"name": "probe", "root": "harn://conformance/1", "metadata": {"run": "1"}});
    id(&create(run, "/v1/workspaces", "workspace", &body))
}

fn session(run: &mut Run) -> String {
    let workspace = workspace(run);
    let body = json!({
        "workspace_id": workspace, "initial_messages": [message("first")], "metadata": {"run": "1"},
    });
    id(&create(run, "/v1/sessions", "session", &body))
}

/// Changes a resource, and gives what it is now.
fn patch(run: &mut Run, path: &str, body: &Value) -> Value {
    let reply = run.client.send("PATCH", path, &[], Some(body.to_string().as_bytes()));
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

#[test]
fn core_list_core_resources() {
    let mut run = Run::start();
    for path in ["/v1/tasks", "/v1/sessions", "/v1/artifacts", "/v1/events", "/v1/outcomes"] {
        run.list(path);
    }
}

#[test]
fn core_workspace_crud() {
    let mut run = Run::start();
    let path = format!("/v1/workspaces/{}", workspace(&mut run));
    check_resource(&run.get(&path), "workspace");
    let changed = patch(&mut run, &path, &json!({"metadata": {"run": "2"}}));
    assert_eq!(changed["metadata"], json!({"run": "2"}));
}

#[test]
fn core_session_crud() {
    let mut run = Run::start();
    let path = format!("/v1/sessions/{}", session(&mut run));
    check_resource(&run.get(&path), "session");
    let changed = patch(&mut run, &path, &json!({"summary": "short", "metadata": {"run": "2"}}));
    assert_eq!((&changed["object"], &changed["summary"]), (&json!("session"), &json!("short")));
}

#[test]
fn core_message_crud() {
    let mut run = Run::start();
    let path = format!("/v1/sessions/{}/messages", session(&mut run));
    let made = create(&mut run, &path, "message", &json!({"message": message("second")}));
    assert_eq!(run.get(&format!("/v1/messages/{}", id(&made))), made);
    assert_eq!(run.list(&path).last(), Some(&made));
}

#[test]
fn core_artifact_crud() {
    let mut run = Run::start();
    let workspace = workspace(&mut run);
    let body = json!({
        "kind": "log", "mime_type": "text/plain", "uri": "harn://conformance/1/artifact.txt",
        "visibility": "public", "sha256": NOTHING, "workspace_id": workspace,
    });
    let made = create(&mut run, "/v1/artifacts", "artifact", &body);
    let read = run.get(&format!("/v1/artifacts/{}", id(&made)));
    assert_eq!((&read["object"], &read["sha256"]), (&json!("artifact"), &json!(NOTHING)));
}

#[test]
fn core_persona_memory_branch_reads() {
    let mut run = Run::start();
    for name in ["personas", "connectors", "skills", "quotas", "memories"] {
        run.list(&format!("/v1/{name}"));
    }
    let path = format!("/v1/sessions/{}/branches", session(&mut run));
    let body = json!({"kind": "session", "base_ref": "main", "metadata": {"run": "1"}});
    let made = create(&mut run, &path, "branch", &body);
    check_resource(&run.get(&format!("/v1/branches/{}", id(&made))), "branch");
}

#[test]
fn streaming_session_sse_event_shape() {
    let mut run = Run::start();
    let session = session(&mut run);
    let mut stream = run.stream(&format!("/v1/sessions/{session}/events/stream"), &[]);
    let path = format!("/v1/sessions/{session}/messages");
    let made = create(&mut run, &path, "message", &json!({"message": message("second")}));
    loop {
        let sent = stream.next().unwrap();
        check_event(&sent.data);
        if sent.event == "session.message_appended" && sent.data.to_string().contains(&id(&made)) {
            return;
        }
    }
}

#[test]
fn receipts_task_receipts_and_receipt_verification() {
    let mut run = Run::start();
    run.session = session(&mut run);
    let done = run.task("done");
    run.follow(&done);
    let path = format!("/v1/tasks/{}/receipts", id(&done));
    let receipts = run.list(&path);
    assert_eq!(receipts.len(), 1);
    let read = run.get(&format!("/v1/receipts/{}", id(&receipts[0])));
    assert_eq!(
        (&read["object"], &read["format"]),
        (&json!("receipt"), &json!("receipt-2026-04-25"))
    );
    let reply = run.client.post(&format!("/v1/receipts/{}/verify", id(&receipts[0])), &json!({}));
    assert_eq!((reply.status, &reply.json()["valid"]), (200, &json!(true)), "{}", reply.text());
    assert!(reply.json()["checked_at"].is_string());
}

#[test]
fn vaults_vault_create_and_read() {
    let mut run = Run::start();
    let body = json!({"provider": "conformance-oauth", "capabilities": ["oauth_refresh"]});
    let made = create(&mut run, "/v1/vaults", "vault", &body);
    let read = run.get(&format!("/v1/vaults/{}", id(&made))).to_string();
    for secret in ["access_token", "refresh_token", "client_secret", "private_key"] {
        assert!(!made.to_string().contains(secret) && !read.contains(secret), "{secret}");
    }
}

#[test]
fn outcomes_outcome_list_and_read() {
    let mut run = Run::start();
    run.session = session(&mut run);
    let task = run.task("outcome");
    run.follow(&task);
    let outcomes = run.list(&format!("/v1/outcomes?task_id={}", id(&task)));
    assert_eq!(outcomes.len(), 1);
    let read = run.get(&format!("/v1/outcomes/{}", id(&outcomes[0])));
    assert_eq!((&read["object"], &read["status"]), (&json!("outcome"), &json!("SUCCEEDED")));
}

#[test]
fn webhooks_connector_webhook_metadata() {
    let mut run = Run::start();
    let connectors = run.list("/v1/connectors");
    let hook = connectors.iter().find(|connector| connector.get("webhook").is_some());
    let hook = hook.unwrap_or_else(|| panic!("no webhook among {connectors:?}"));
    assert_eq!((&hook["object"], &hook["status"]), (&json!("connector"), &json!("PAUSED")));
    assert!(hook["event_kinds"].is_array());
}
