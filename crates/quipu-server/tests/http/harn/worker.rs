//! A worker's way through a Task over HTTP, for tests that are about what comes of it.

use serde_json::{Value, json};

use crate::support::{Client, Reply, TestServer};

use super::bearer;

/// A caller with a key for everything, as `alice`.
pub(crate) fn alice(server: &TestServer) -> Client {
    bearer(server, &server.key(10)).with("akashik-agent", "alice")
}

/// Sends JSON and expects a status.
pub(crate) fn ask(client: &mut Client, method: &str, path: &str, body: &Value) -> Reply {
    client.send(method, path, &[], Some(body.to_string().as_bytes()))
}

/// Sends JSON, which must be taken.
pub(crate) fn done(client: &mut Client, method: &str, path: &str, body: &Value) -> Value {
    let reply = ask(client, method, path, body);
    assert!(reply.status < 300, "{method} {path}: {} {}", reply.status, reply.text());
    reply.json()
}

/// A Persona that somebody has to work under.
pub(crate) fn persona(client: &mut Client) -> String {
    let body = json!({
        "name": "worker", "version": "1", "entry_workflow": "main", "description": "works",
        "autonomy_tier": "act_auto", "receipt_policy": "required",
    });
    id(&done(client, "POST", "/v1/personas", &body))
}

/// A Task that the caller has claimed.
pub(crate) fn claimed(client: &mut Client) -> String {
    let persona = persona(client);
    let body = json!({"session_id": "session_default", "persona_id": persona, "input": "count"});
    let task = id(&done(client, "POST", "/v1/tasks", &body));
    done(client, "POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
    task
}

/// A Task that was completed.
pub(crate) fn completed(client: &mut Client) -> Value {
    let task = claimed(client);
    let body = json!({"summary": "done", "output": {"ships": 3}});
    done(client, "POST", &format!("/v1/tasks/{task}/complete"), &body)
}

pub(crate) fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}
