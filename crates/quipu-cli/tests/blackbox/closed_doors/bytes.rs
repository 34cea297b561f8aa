//! Whoever names a digest is given nothing that it could not read before, and bytes that are taken away are gone.

use std::{fs, path::Path};

use quipu_wire::{harn::Sha256, json::base64};
use serde_json::{Value, json};

use super::harn_actor::{Actor, World, persona};

fn file(visibility: &str) -> Value {
    json!({"kind": "file", "mime_type": "application/json", "visibility": visibility})
}

fn content(artifact: &str) -> String {
    format!("/v1/artifacts/{artifact}/content")
}

/// An Artifact for everybody that only names a digest.
fn naming(actor: &mut Actor, bytes: &[u8]) -> String {
    let mut body = file("public");
    body["sha256"] = json!(Sha256::of(bytes).bare());
    actor.made("/v1/artifacts", &body)
}

/// Whether a file below a directory holds the bytes, as they are or as the log keeps them.
fn is_on_disk(directory: &Path, bytes: &[u8]) -> bool {
    let coded = base64::encode(bytes);
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_on_disk(&path, bytes);
        }
        let file = fs::read(path).unwrap();
        let has = |needle: &[u8]| file.windows(needle.len()).any(|window| window == needle);
        has(bytes) || has(coded.as_bytes())
    })
}

#[test]
fn who_names_the_digest_of_hidden_bytes_is_told_what_is_told_of_unknown_ones() {
    let mut world = World::new();
    let (mut ada, mut mallory) = (world.agent("ada", 5), world.agent("mallory", 4));
    for (number, visibility) in ["internal", "receipt_only"].into_iter().enumerate() {
        let bytes = format!("\"canary-bytes-{number}-of-ada\"");
        ada.artifact(&file(visibility), bytes.as_bytes());
        let stolen = naming(&mut mallory, bytes.as_bytes());
        let unknown = naming(&mut mallory, b"never uploaded");
        for method in ["GET", "DELETE"] {
            let mut told = |id: &str| {
                let (status, text) = mallory.send(method, &content(id), b"");
                let text: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                let message = text["error"]["message"].as_str().unwrap_or_default();
                (status, message.replace(id, "ID"))
            };
            assert_eq!(told(&stolen), told(&unknown), "{method} of {visibility}");
        }
        let read = world.operator.send("GET", &content(&stolen), b"");
        assert_eq!((read.0, read.1.contains("canary-bytes")), (404, false), "{}", read.1);
    }
}

#[test]
fn whoever_has_the_bytes_puts_them_and_reads_them() {
    let mut world = World::new();
    let (mut ada, mut bob) = (world.agent("ada", 5), world.agent("bob", 4));
    let bytes = b"bytes that both of them have";
    ada.artifact(&file("internal"), bytes);
    let own = naming(&mut bob, bytes);
    assert_eq!(bob.send("GET", &content(&own), b"").0, 404);
    assert_eq!(bob.send("PUT", &content(&own), bytes).0, 200);
    assert_eq!(bob.send("GET", &content(&own), b""), (200, "bytes that both of them have".into()));
    // What everybody may read may be named by everybody.
    let public = naming(&mut bob, bytes);
    assert_eq!(bob.send("GET", &content(&public), b"").0, 200);
}

#[test]
fn no_task_reads_bytes_for_somebody_who_may_not() {
    const TELLS: &str = r#"
pub fn review(harness: Harness, input: any) {
  const told = harness.tools.invoke("tell", {})
  return {told: told}
}
"#;
    let mut world = World::new();
    let (mut ada, mut mallory) = (world.agent("ada", 5), world.agent("mallory", 4));
    let bytes = b"\"canary-bytes-of-ada\"";
    let hidden = ada.artifact(&file("internal"), bytes);
    let named = naming(&mut mallory, bytes);
    let persona = world.operator.module(TELLS, &["tools.invoke"], &Value::Null);
    let task = mallory.submit(&persona);
    mallory.until(&task, &["INPUT_REQUIRED"]);
    let answers = format!("/v1/tasks/{task}/dependencies");
    for artifact in [&hidden, &named] {
        let body =
            json!({"key": "host:tools.invoke:1", "kind": "tool_result", "artifact_id": artifact});
        let error = mallory.refused("POST", &answers, &body, 404);
        assert_eq!(error["param"], "artifact_id", "{error}");
    }
    let body = json!({"key": "host:tools.invoke:1", "kind": "tool_result", "value": 1});
    mallory.done("POST", &answers, &body);
    assert_eq!(mallory.output(&task), json!({"told": 1}));
    for artifact in [&hidden, &named] {
        let body = json!({"mode": "with_overrides", "override": {
            "host:tools.invoke:1": {"kind": "tool_result", "artifact_id": artifact}}});
        let error = mallory.refused("POST", &format!("/v1/tasks/{task}/replay"), &body, 400);
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}

#[test]
fn a_task_that_is_brought_here_names_nothing_that_was_here_before() {
    let mut world = World::new();
    let mut ada = world.agent("ada", 5);
    let mut lead = world.agent("lead", 8);
    let bytes = b"\"canary-bytes-of-ada\"";
    let hidden = ada.artifact(&file("receipt_only"), bytes);
    let made = world.operator.made("/v1/personas", &persona("act_auto"));
    let task = lead.submit(&made);
    lead.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
    let kept = json!({"label": "a", "state": 1});
    lead.done("POST", &format!("/v1/tasks/{task}/checkpoints"), &kept);
    let answer = json!({"key": "host:a:1", "kind": "host_fact", "value": 1});
    lead.done("POST", &format!("/v1/tasks/{task}/dependencies"), &answer);
    lead.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    let export = lead.read(&format!("/v1/tasks/{task}/export"));
    let mut forged: Value =
        serde_json::from_str(&export.to_string().replace(&task, "task_brought")).unwrap();
    forged.as_object_mut().unwrap().remove("receipt");
    forged["task"].as_object_mut().unwrap().remove("receipt_id");
    for event in forged["events"].as_array_mut().unwrap() {
        event["id"] = json!(format!("{}_b", event["id"].as_str().unwrap()));
    }
    // The bytes of an Artifact that is brought along are those that come with it.
    let own = forged["artifacts"][0].clone();
    let mut named = own.clone();
    named["artifact"]["id"] = json!("artifact_named");
    named["artifact"]["sha256"] = json!(Sha256::of(bytes).bare());
    named["artifact"]["uri"] = json!("/v1/artifacts/artifact_named/content");
    named["artifact"]["visibility"] = json!("public");
    named["content_base64"] = Value::Null;
    forged["artifacts"] = json!([named]);
    let mut by_checkpoint = forged.clone();
    for event in by_checkpoint["events"].as_array_mut().unwrap() {
        if event["checkpoint_id"].is_string() {
            event["checkpoint_id"] = json!(hidden);
        }
    }
    let error = lead.refused("POST", "/v1/tasks/import", &by_checkpoint, 400);
    assert!(error["param"].as_str().unwrap().contains("checkpoint_id"), "{error}");
    for event in forged["events"].as_array_mut().unwrap() {
        if event["checkpoint_id"].is_string() {
            event["checkpoint_id"] = json!("artifact_named");
        }
    }
    lead.done("POST", "/v1/tasks/import", &forged);
    let (status, text) = lead.send("GET", &content("artifact_named"), b"");
    assert_eq!((status, text.contains("canary")), (404, false), "{text}");
    let text = lead.read("/v1/tasks/task_brought/export").to_string();
    assert!(!text.contains(&base64::encode(bytes)), "{text}");
}

#[test]
fn bytes_that_are_taken_away_are_gone_whoever_names_their_digest() {
    let mut world = World::new();
    let (mut ada, mut mallory) = (world.agent("ada", 5), world.agent("mallory", 4));
    let bytes = b"canary-bytes-to-be-taken-away";
    let own = ada.artifact(&file("internal"), bytes);
    assert!(is_on_disk(world.data.path(), bytes), "the search finds what is there");
    let named = naming(&mut mallory, bytes);
    let left = ada.done("DELETE", &content(&own), &Value::Null);
    assert!(left["metadata"].get("content_still_held").is_none(), "{left}");
    assert_eq!(mallory.send("GET", &content(&named), b"").0, 404);
    assert!(!is_on_disk(world.data.path(), bytes));
}

#[test]
fn bytes_that_stay_are_said_to_be_held_and_by_whom_as_far_as_one_may_know() {
    let mut world = World::new();
    let mut ada = world.agent("ada", 5);
    let bytes = b"canary-bytes-of-several";
    let own = ada.artifact(&file("public"), bytes);
    let other = world.operator.artifact(&file("public"), bytes);
    let create = json!({"action": "create", "session_id": "hidden",
        "session": {"goal": "g", "policy": {"join": "invite"}}});
    let mut keeper = world.agent("keeper", 9);
    keeper.done("POST", "/v1/register", &json!({"id": "keeper", "role": "lead"}));
    keeper.done("POST", "/v1/session", &create);
    let mut body = file("public");
    body["session_id"] = json!("hidden");
    keeper.artifact(&body, bytes);
    let held = json!({"artifacts": [other], "others": true});
    for _ in 0..2 {
        let left = ada.done("DELETE", &content(&own), &Value::Null);
        assert_eq!(left["metadata"]["content_still_held"], held, "{left}");
    }
    assert_eq!(ada.send("GET", &content(&own), b"").0, 404);
    assert_eq!(ada.send("GET", &content(&other), b"").0, 200);
}
