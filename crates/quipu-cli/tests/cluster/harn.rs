//! The other protocol over several nodes: what one node takes another goes on with.

use std::collections::BTreeSet;

use quipu_testbed::{Client, Cluster, EngineKind, wait_until};
use serde_json::{Value, json};

use crate::support::{agree, at_once, speak, start};

#[test]
fn over_postgres_a_task_goes_from_node_to_node() {
    goes_from_node_to_node(&start(EngineKind::Postgres));
}

#[test]
fn over_nats_a_task_goes_from_node_to_node() {
    goes_from_node_to_node(&start(EngineKind::Nats));
}

fn goes_from_node_to_node(cluster: &Cluster) {
    what_all_nodes_change_at_once_is_changed_by_all(cluster);
    a_task_is_submitted_worked_on_and_ended_at_three_nodes(cluster);
    a_run_goes_on_at_another_node_where_its_worker_was_lost(cluster);
}

fn caller(cluster: &Cluster, node: usize, field: &str) -> Client {
    let client = speak(cluster, node, field);
    client.with_header("harn-agents-protocol-version", "agents-protocol-2026-10-11")
}

#[track_caller]
fn call(
    cluster: &Cluster,
    node: usize,
    field: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> Value {
    let mut client = caller(cluster, node, field);
    let answer = client.try_request(method, path, body.to_string().as_bytes()).unwrap();
    assert!((200..300).contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

fn what_all_nodes_change_at_once_is_changed_by_all(cluster: &Cluster) {
    let field = "changing";
    let made =
        call(cluster, 0, field, "POST", "/v1/workspaces", &json!({"name": "w", "root": "."}));
    let path = format!("/v1/workspaces/{}", made["id"].as_str().unwrap());
    for round in 0..12 {
        let name = format!("w{round}");
        let changes = [
            json!({"name": name}),
            json!({"metadata": {"round": round}}),
            json!({"capabilities": [format!("c{round}")]}),
        ];
        // No node has been told to wait for what the others know.
        at_once(3, |node| call(cluster, node, field, "PATCH", &path, &changes[node]));
        let kept = call(cluster, 0, field, "PATCH", &path, &json!({}));
        assert_eq!(
            (&kept["name"], &kept["metadata"]["round"], &kept["capabilities"][0]),
            (&json!(name), &json!(round), &json!(format!("c{round}")))
        );
    }
    agree(cluster, field);
}

fn a_task_is_submitted_worked_on_and_ended_at_three_nodes(cluster: &Cluster) {
    let field = "working";
    let persona = json!({"name": "pricer", "version": "1", "entry_workflow": "external",
        "description": "prices", "autonomy_tier": "act_auto", "receipt_policy": "required"});
    let persona = call(cluster, 0, field, "POST", "/v1/personas", &persona)["id"].clone();
    let session = json!({"workspace_id": "workspace_default"});
    let mut receipts = BTreeSet::new();
    for number in 0..4 {
        let (one, two, three) = (number % 3, (number + 1) % 3, (number + 2) % 3);
        let session = call(cluster, one, field, "POST", "/v1/sessions", &session);
        let session = session["id"].as_str().unwrap();
        let tasks = format!("/v1/sessions/{session}/tasks");
        let work = json!({"input": "price it", "persona_id": persona});
        let task = call(cluster, two, field, "POST", &tasks, &work);
        let task = format!("/v1/tasks/{}", task["id"].as_str().unwrap());
        call(cluster, three, field, "POST", &format!("{task}/claim"), &json!({"lease_ms": 60_000}));
        let dependency =
            json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": number});
        call(cluster, one, field, "POST", &format!("{task}/dependencies"), &dependency);
        let done = json!({"summary": "priced", "output": {"price": number}});
        let ended = call(cluster, two, field, "POST", &format!("{task}/complete"), &done);
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
        // Whichever node's notary came first, there is one.
        let of_task = wait_until(30, "a receipt", || {
            let list = caller(cluster, three, field).get(&format!("{task}/receipts")).json();
            let list = list["data"].as_array().cloned().unwrap_or_default();
            (!list.is_empty()).then_some(list)
        });
        assert_eq!(of_task.len(), 1, "{of_task:?}");
        let id = of_task[0]["id"].as_str().unwrap().to_owned();
        assert!(receipts.insert(id));
    }
    agree(cluster, field);
}

fn a_run_goes_on_at_another_node_where_its_worker_was_lost(cluster: &Cluster) {
    let field = "resuming";
    let persona = json!({"name": "pricer", "version": "1", "entry_workflow": "external",
        "description": "prices", "autonomy_tier": "act_auto", "receipt_policy": "required"});
    let persona = call(cluster, 0, field, "POST", "/v1/personas", &persona)["id"].clone();
    let retry = json!({"queue": "q", "retry": {"max_attempts": 2}});
    let work = json!({"session_id": "session_default", "input": "price it", "persona_id": persona, "metadata": retry});
    let task = call(cluster, 0, field, "POST", "/v1/tasks", &work)["id"].clone();
    let path = format!("/v1/tasks/{}", task.as_str().unwrap());
    let next = |node, wait_ms: u32, lease_ms: u32| {
        let ask = json!({"queue": "q", "wait_ms": wait_ms, "lease_ms": lease_ms});
        call(cluster, node, field, "POST", "/v1/tasks/claim", &ask)
    };
    assert_eq!(next(0, 0, 1500)["id"], task);
    let dependency = json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": 49});
    call(cluster, 0, field, "POST", &format!("{path}/dependencies"), &dependency);
    // Nobody is heard of at the first node any more; the second waits until the lease has run out.
    assert_eq!(next(1, 30_000, 60_000)["id"], task);
    let found = call(
        cluster,
        2,
        field,
        "POST",
        &format!("{path}/dependencies/resolve"),
        &json!({"key": "llm:main:1"}),
    );
    assert_eq!((&found["source"], &found["value"]), (&json!("recorded"), &json!(49)));
    let listed = call(cluster, 1, field, "GET", &format!("{path}/dependencies"), &Value::Null);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
    call(cluster, 2, field, "POST", &format!("{path}/heartbeat"), &json!({}));
    let failed = json!({"message": "busy", "retryable": true});
    let ended = call(cluster, 2, field, "POST", &format!("{path}/fail"), &failed);
    assert_eq!(ended["failure"]["code"], "attempts_exhausted", "{ended}");
    assert_eq!(ended["metadata"]["retry_state"]["failed_attempts"], 2, "{ended}");
    agree(cluster, field);
}
