//! Modules run in processes of their own: whatever one of them does, it fails its own Task and nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, Server, Settings, verify_is_green, wait_until};

/// A text that is replaced into itself until there is no memory for it.
const EATS_MEMORY: &str = "pub fn go(input: any) {
  const much = input.words.replace(\"a\", input.words)
  return much.replace(\"a\", much)
}";
/// Few steps of which each takes long.
const EATS_TIME: &str = "pub fn go(input: any) {
  while true { const seal = sha256(input.words) }
}";
const ENDLESS: &str = "pub fn go(input: any) { while true { } }";
const ASKS: &str = "pub fn go(harness: Harness, input: any) {
  return {said: harness.llm.call(\"Is it fine?\").text}
}";

fn caller(server: &Server) -> Client {
    server.client().with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11")
}

fn post(client: &mut Client, path: &str, body: &Value) -> Value {
    let answer = client.post(path, body.to_string());
    assert!((200..300).contains(&answer.status), "{path}: {}", answer.text());
    answer.json()
}

fn installed(client: &mut Client, source: &str) -> Value {
    let artifact = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "internal"});
    let artifact = post(client, "/v1/artifacts", &artifact)["id"].clone();
    let path = format!("/v1/artifacts/{}/content", artifact.as_str().unwrap());
    assert_eq!(client.try_request("PUT", &path, source.as_bytes()).unwrap().status, 200);
    let persona = json!({
        "module_ref": "harn://acme/go@1", "name": "goer", "version": "1", "entry_workflow": "go",
        "description": "goes", "autonomy_tier": "act_auto", "receipt_policy": "required",
        "metadata": {"module_artifact_id": artifact, "capabilities": ["llm.call"]},
    });
    post(client, "/v1/personas", &persona)["id"].clone()
}

fn submitted(client: &mut Client, source: &str, input: &Value) -> String {
    let persona = installed(client, source);
    let submit = json!({"persona_id": persona, "input": input});
    let task = post(client, "/v1/sessions/session_default/tasks", &submit);
    task["id"].as_str().unwrap().to_owned()
}

fn in_status(client: &mut Client, task: &str, status: &str) -> Value {
    wait_until(60, &format!("the task to be {status}"), || {
        let task = client.get(&format!("/v1/tasks/{task}")).ok();
        (task["status"] == status).then_some(task)
    })
}

/// What a Task failed with, once it has.
fn failure(client: &mut Client, task: &str) -> Value {
    in_status(client, task, "FAILED")["failure"].clone()
}

fn events(client: &mut Client, task: &str) -> Vec<Value> {
    let list = client.get(&format!("/v1/tasks/{task}/events?limit=200")).ok();
    list["data"].as_array().unwrap().clone()
}

fn deaths(client: &mut Client, task: &str) -> usize {
    let events = events(client, task);
    events.iter().filter(|event| event["event"] == "vendor.module.died").count()
}

fn receipt_of(client: &mut Client, task: &str) -> Value {
    wait_until(30, "the receipt", || {
        let told = events(client, task);
        told.into_iter().find(|event| event["event"] == "receipt.issued")
    })
}

/// The processes that the server has started and that have not ended.
fn children(server: &Server) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let of_thread = |thread: std::io::Result<fs::DirEntry>| {
        let children = thread.ok()?.path().join("children");
        Some(fs::read_to_string(children).ok()?.trim().to_owned())
    };
    let text: Vec<String> = threads.filter_map(of_thread).collect();
    text.join(" ").split_whitespace().map(str::to_owned).collect()
}

fn text(times: usize) -> Value {
    json!({"words": "a".repeat(times)})
}

#[test]
fn a_module_that_eats_all_memory_fails_its_task_and_the_server_lives_also_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let settings = Settings::dev(data.path()).argument("--module-memory-mib").argument("192");
    let server = settings.start();
    let mut client = caller(&server);
    let task = submitted(&mut client, EATS_MEMORY, &text(1000));
    client.register("ada", "tester");
    client.record("ada", crate::support::finding("work goes on meanwhile"));
    let failed = failure(&mut client, &task);
    assert_eq!(failed["code"], "module_failed", "{failed}");
    assert_eq!(failed["details"]["diagnostic"], "module_memory", "{failed}");
    assert_eq!(deaths(&mut client, &task), 2, "it was tried once more, and then given up");
    receipt_of(&mut client, &task);
    server.stop();

    let server = settings.start();
    let mut client = caller(&server);
    assert_eq!(client.get(&format!("/v1/tasks/{task}")).ok()["status"], "FAILED");
    assert_eq!(deaths(&mut client, &task), 2, "it is not tried again");
    assert!(children(&server).is_empty());
    let task = submitted(&mut client, "pub fn go(input: any) { return input }", &json!({"a": 1}));
    in_status(&mut client, &task, "COMPLETED");
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_module_that_does_not_end_fails_its_task_and_others_are_answered_meanwhile() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).argument("--module-seconds").argument("1").start();
    let mut client = caller(&server);
    let task = submitted(&mut client, ENDLESS, &json!({}));
    let failed = failure(&mut client, &task);
    assert_eq!(failed["details"]["diagnostic"], "execution_fuel", "it counts steps: {failed}");
    let task = submitted(&mut client, EATS_TIME, &text(900_000));
    let failed = failure(&mut client, &task);
    assert_eq!(failed["details"]["diagnostic"], "module_time", "{failed}");
    assert_eq!(client.get("/healthz").status, 200);
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_module_whose_process_is_killed_is_tried_once_more_and_then_given_up() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = caller(&server);
    let task = submitted(&mut client, EATS_TIME, &text(900_000));
    for death in 1..=2 {
        let child = wait_until(30, "the module's process", || children(&server).first().cloned());
        let killed = std::process::Command::new("kill").args(["-KILL", &child]).status().unwrap();
        assert!(killed.success());
        wait_until(30, "its death is written down", || {
            (deaths(&mut client, &task) == death).then_some(())
        });
    }
    let failed = failure(&mut client, &task);
    assert_eq!(failed["details"]["diagnostic"], "module_killed", "{failed}");
    assert_eq!(server.client().get("/healthz").status, 200);
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_death_before_a_restart_counts_after_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = caller(&server);
    let task = submitted(&mut client, EATS_TIME, &text(900_000));
    let child = wait_until(30, "the module's process", || children(&server).first().cloned());
    std::process::Command::new("kill").args(["-KILL", &child]).status().unwrap();
    wait_until(30, "its death is written down", || (deaths(&mut client, &task) == 1).then_some(()));
    server.kill();

    let server = Settings::dev(data.path()).argument("--module-seconds").argument("1").start();
    let mut client = caller(&server);
    let failed = failure(&mut client, &task);
    assert_eq!(failed["details"]["diagnostic"], "module_time", "{failed}");
    assert_eq!(deaths(&mut client, &task), 2);
    server.stop();
}

#[test]
fn a_module_in_its_own_process_asks_is_answered_and_is_replayed_there() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = caller(&server);
    let task = submitted(&mut client, ASKS, &json!({}));
    in_status(&mut client, &task, "INPUT_REQUIRED");
    assert!(children(&server).is_empty(), "a module that waits for an answer has no process");
    let answer = json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": "yes"});
    post(&mut client, &format!("/v1/tasks/{task}/dependencies"), &answer);
    in_status(&mut client, &task, "COMPLETED");
    let replay = json!({"mode": "with_overrides", "override": {
        "llm:main:1": {"kind": "llm_provider_response", "value": "no"}}});
    let replay = post(&mut client, &format!("/v1/tasks/{task}/replay"), &replay);
    let replay = replay["id"].as_str().unwrap().to_owned();
    let ended = in_status(&mut client, &replay, "COMPLETED");
    let outcome = ended["outcome_id"].as_str().unwrap().to_owned();
    let outcome = client.get(&format!("/v1/outcomes/{outcome}")).ok();
    assert_eq!(outcome["metadata"]["output"], json!({"said": "no"}), "{outcome}");
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_replay_whose_module_dies_fails_and_the_server_lives() {
    let data = tempfile::tempdir().unwrap();
    let settings = Settings::dev(data.path()).argument("--module-memory-mib").argument("192");
    let server = settings.start();
    let mut client = caller(&server);
    let task = submitted(&mut client, EATS_MEMORY, &text(1000));
    failure(&mut client, &task);
    let replay = json!({"mode": "exact"});
    let replay = post(&mut client, &format!("/v1/tasks/{task}/replay"), &replay);
    let replay = replay["id"].as_str().unwrap().to_owned();
    let failed = failure(&mut client, &replay);
    assert_eq!(failed["details"]["diagnostic"], "module_memory", "{failed}");
    server.stop();
    verify_is_green(data.path());
}
