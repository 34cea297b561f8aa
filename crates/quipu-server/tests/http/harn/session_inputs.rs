//! Inputs that a member of a Session lends to the modules of its own Tasks there.

use serde_json::{Value, json};

use super::{
    actors::Actor,
    modules::installed,
    task_calls::{expect, settled},
};
use crate::support::TestServer;

const READS: &str = r#"
pub fn review(harness: Harness, input: any) {
  const token = harness.secrets.read("SERVICE_KEY")
  return {same: token == "canary-lent"}
}
"#;

fn put(name: &str, value: &str) -> Value {
    json!({"kind": "put", "spec": {"name": name}, "value": value})
}

#[test]
fn what_is_lent_answers_the_lenders_own_task_and_is_told_to_nobody() {
    let server = TestServer::start();
    let mut operator = super::task_calls::operator(&server);
    let persona = installed(&mut operator, READS, &["secrets.read"]);
    let mut ann = Actor::agent(&server, "ann", 5);
    let mut bob = Actor::agent(&server, "bob", 5);
    let session = ann.session();
    bob.say(&session, "here");
    let inputs = format!("/v1/sessions/{session}/inputs");
    let given = ann.done("POST", &inputs, &put("SERVICE_KEY", "canary-lent"));
    assert_eq!(
        given["input"],
        json!({"name": "SERVICE_KEY", "kind": "secret",
        "lifetime": {"kind": "session"}, "usage": {"kind": "session_tools"}})
    );
    assert_eq!(bob.done("POST", &inputs, &json!({"kind": "list"}))["inputs"], json!([]));
    let submit = json!({"persona_id": persona, "input": "go"});
    let tasks = format!("/v1/sessions/{session}/tasks");
    let task = |actor: &mut Actor| {
        let task = expect(actor.post(&tasks, &submit), 202);
        settled(&mut actor.0, task["id"].as_str().unwrap())
    };
    let ended = task(&mut ann);
    assert_eq!(ended["status"], "COMPLETED", "{ended}");
    let of_bob = task(&mut bob);
    assert_eq!(of_bob["failure"]["code"], "secret_unavailable", "it is not lent to him: {of_bob}");
    let id = ended["id"].as_str().unwrap();
    let replay = expect(ann.post(&format!("/v1/tasks/{id}/replay"), &json!({})), 202);
    let replay = settled(&mut ann.0, replay["id"].as_str().unwrap());
    assert_eq!(replay["status"], "COMPLETED", "it is still lent: {replay}");
    let replay = replay["id"].as_str().unwrap();
    for path in [
        format!("/v1/sessions/{session}/events"),
        format!("/v1/sessions/{session}/messages"),
        format!("/v1/sessions/{session}"),
        format!("/v1/tasks/{id}/receipts"),
        format!("/v1/tasks/{replay}/events"),
        "/v1/log/commits?from=1&limit=500".to_owned(),
    ] {
        assert!(!operator.get(&path).text().contains("canary"), "{path}");
    }
    let fork = ann.made(&format!("/v1/sessions/{session}/fork"), &json!({}));
    let forked = format!("/v1/sessions/{}/inputs", fork["id"].as_str().unwrap());
    assert_eq!(ann.done("POST", &forked, &json!({"kind": "list"}))["inputs"], json!([]));
    assert_eq!(
        ann.done("POST", &inputs, &json!({"kind": "remove", "name": "SERVICE_KEY"}))["removed"],
        true
    );
    assert_eq!(task(&mut ann)["failure"]["code"], "secret_unavailable");
}

#[test]
fn a_host_brings_all_its_inputs_at_once_and_an_old_snapshot_changes_nothing() {
    let server = TestServer::start();
    let mut ann = Actor::operator(&server);
    let session = ann.session();
    let inputs = format!("/v1/sessions/{session}/inputs");
    ann.done("POST", &inputs, &put("OWN", "x"));
    let sync = |revision: u64, given: Value| {
        json!({"kind": "sync", "snapshot": {
        "sourceId": "ide-window", "revision": revision, "inputs": given, "redactions": []}})
    };
    let window = json!([{"spec": {"name": "WINDOW", "kind": "variable"}, "value": "shown"}]);
    let synced = ann.done("POST", &inputs, &sync(2, window));
    assert_eq!(
        (&synced["applied"], synced["inputs"].as_array().map(Vec::len)),
        (&json!(true), Some(2))
    );
    assert_eq!(
        (&synced["inputs"][1]["name"], &synced["inputs"][1]["value"]),
        (&json!("WINDOW"), &json!("shown"))
    );
    assert_eq!(ann.done("POST", &inputs, &sync(1, json!([])))["applied"], false);
    let left = ann.done("POST", &inputs, &sync(3, json!([])));
    assert_eq!(left["inputs"].as_array().map(Vec::len), Some(1));
    let taken = ann.refused("POST", &inputs, &put("OWN", "y"));
    assert_eq!((taken.0, taken.1.as_str()), (409, "conflict"));
    let wrong = ann.refused("POST", &inputs, &put("1", "y"));
    assert_eq!((wrong.0, wrong.2.as_str()), (400, "spec.name"));
    ann.done("POST", &format!("/v1/sessions/{session}/close"), &Value::Null);
    assert_eq!(ann.refused("POST", &inputs, &json!({"kind": "list"})).0, 409);
}
