//! Working on a Task over HTTP.

use serde_json::json;

use super::{
    refusal, refused,
    task_calls::{agent, expect, operator, waiting},
};
use crate::support::TestServer;

#[test]
fn a_worker_takes_a_task_records_what_it_was_told_and_completes_it() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let path = format!("/v1/tasks/{}", waiting(&server, "t"));
    let post = |rest: &str| format!("{path}/{rest}");
    let task = expect(client.post(&post("claim"), &json!({"agent_id": "pricer-1"})), 200);
    assert_eq!(task["assigned_agent_id"], "pricer-1");
    let dependency = json!({"key": "llm:main:1", "kind": "llm_provider_response", "request": {"q": 1}, "value": {"a": 49}});
    let recorded = expect(client.post(&post("dependencies"), &dependency), 201);
    assert_eq!(
        (&recorded["object"], &recorded["key"]),
        (&json!("dependency"), &json!("llm:main:1"))
    );
    assert_eq!(expect(client.post(&post("dependencies"), &dependency), 200), recorded);
    let mut other = dependency.clone();
    other["value"] = json!({"a": 99});
    assert_eq!(refusal(&client.post(&post("dependencies"), &other)), refused(409, "conflict"));
    let event =
        json!({"event": "agent.tool_use", "payload": {"tool_call_id": "c1", "name": "crm"}});
    let event = expect(client.post(&post("events"), &event), 201);
    assert_eq!((&event["object"], &event["event"]), (&json!("event"), &json!("agent.tool_use")));
    assert_eq!(
        expect(client.get(&format!("/v1/events/{}", event["id"].as_str().unwrap())), 200),
        event
    );
    let checkpoint =
        expect(client.post(&post("checkpoints"), &json!({"label": "l", "state": [1]})), 201);
    assert_eq!(
        (&checkpoint["object"], &checkpoint["kind"]),
        (&json!("artifact"), &json!("snapshot"))
    );
    let done = json!({"summary": "49", "output": {"price": 49}, "artifacts": [checkpoint["id"]]});
    let task = expect(client.post(&post("complete"), &done), 200);
    assert_eq!(task["status"], "COMPLETED");
    assert_eq!(refusal(&client.post(&post("complete"), &done)), refused(409, "conflict"));
    assert_eq!(refusal(&client.post(&post("fail"), &json!({"message": "no"}))).0, 409);
}

#[test]
fn a_task_is_one_workers_at_a_time_and_only_a_key_for_any_agent_speaks_for_others() {
    let server = TestServer::start();
    let claim = format!("/v1/tasks/{}/claim", waiting(&server, "t"));
    let (mut bob, mut eve) = (agent(&server, "bob"), agent(&server, "eve"));
    assert_eq!(
        refusal(&eve.post(&claim, &json!({"agent_id": "bob"}))),
        refused(403, "permission_denied")
    );
    assert_eq!(refusal(&operator(&server).post(&claim, &json!({"agent_id": "system"}))).0, 400);
    assert_eq!(refusal(&eve.post(&claim, &json!({"lease_ms": 0}))).0, 400);
    assert_eq!(expect(bob.send("POST", &claim, &[], None), 200)["status"], "WORKING");
    assert_eq!(refusal(&eve.send("POST", &claim, &[], None)), refused(423, "resource_locked"));
    assert_eq!(
        expect(bob.post(&claim, &json!({"lease_ms": 60_000})), 200)["assigned_agent_id"],
        "bob"
    );
}

#[test]
fn what_a_worker_may_not_say_is_refused_by_name_and_told_by_nothing() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let path = format!("/v1/tasks/{}", waiting(&server, "t"));
    expect(client.send("POST", &format!("{path}/claim"), &[], None), 200);
    let before = expect(client.get(&format!("{path}/events")), 200);
    for (rest, body, param) in [
        ("events", json!({"event": "task.completed"}), "event"),
        ("events", json!({"event": "made up"}), "event"),
        ("events", json!({"event": "agent.message", "visibility": "secret"}), "visibility"),
        ("dependencies", json!({"key": "nocolon", "kind": "time", "value": 1}), "key"),
        ("dependencies", json!({"key": "time:a", "kind": "guess", "value": 1}), "kind"),
        ("dependencies", json!({"key": "time:a", "kind": "time"}), "value"),
        (
            "dependencies",
            json!({"key": "time:a", "kind": "time", "value": 1, "artifact_id": "a"}),
            "artifact_id",
        ),
        ("checkpoints", json!({}), "label"),
        ("complete", json!({}), "summary"),
        ("fail", json!({}), "message"),
    ] {
        let reply = client.post(&format!("{path}/{rest}"), &body);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{rest}: {body}");
        assert_eq!(reply.json()["error"]["param"], param, "{rest}: {body}");
    }
    let body = json!({"summary": "x", "artifacts": ["artifact_none"]});
    assert_eq!(refusal(&client.post(&format!("{path}/complete"), &body)).0, 404);
    assert_eq!(expect(client.get(&format!("{path}/events")), 200), before);
}
