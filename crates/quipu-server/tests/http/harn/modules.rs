//! A module that runs in the server, from its source to its replay, over HTTP.

use serde_json::{Value, json};

use super::task_calls::{agent, expect, operator, settled};
use crate::support::{Client, TestServer, wait_until};

const SOURCE: &str = r#"
pub fn review(harness: Harness, input: any) {
  const said = harness.llm.call("Is this plan sound? " + input.plan)
  return {approved: said.text.starts_with("yes"), said: said.text}
}
"#;

/// A Persona with this module, which may ask for this.
pub(crate) fn installed(client: &mut Client, source: &str, capabilities: &[&str]) -> String {
    let body = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "internal"});
    let artifact = expect(client.post("/v1/artifacts", &body), 201);
    let artifact = artifact["id"].as_str().unwrap();
    let path = format!("/v1/artifacts/{artifact}/content");
    assert_eq!(client.send("PUT", &path, &[], Some(source.as_bytes())).status, 200);
    let persona = json!({
        "module_ref": "harn://acme/review@1", "name": "reviewer", "version": "1",
        "entry_workflow": "review", "description": "reviews plans", "autonomy_tier": "act_auto",
        "receipt_policy": "required",
        "metadata": {"module_artifact_id": artifact, "capabilities": capabilities},
    });
    expect(client.post("/v1/personas", &persona), 201)["id"].as_str().unwrap().to_owned()
}

/// What the module asks, once it waits.
fn asked(client: &mut Client, task: &str) -> Value {
    wait_until("the module asks", || {
        expect(client.get(&format!("/v1/tasks/{task}")), 200)["status"] == "INPUT_REQUIRED"
    });
    let events = expect(client.get(&format!("/v1/tasks/{task}/events")), 200);
    let events = events["data"].as_array().unwrap().clone();
    events.iter().rev().find_map(|event| event["payload"].get("asks").cloned()).unwrap()
}

#[test]
fn a_module_is_installed_run_answered_and_replayed_with_another_answer() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let persona = installed(&mut client, SOURCE, &["llm.call"]);
    let submit = json!({"session_id": "session_default", "persona_id": persona,
        "input": {"plan": "sell it"}});
    let task = expect(client.post("/v1/tasks", &submit), 202)["id"].as_str().unwrap().to_owned();
    let asks = asked(&mut client, &task);
    assert_eq!(asks["arguments"][0], "Is this plan sound? sell it");
    let answer = json!({"key": asks["key"], "kind": asks["kind"], "value": "yes, do"});
    let mut bob = agent(&server, "bob");
    expect(bob.post(&format!("/v1/tasks/{task}/dependencies"), &answer), 201);
    let ended = settled(&mut client, &task);
    assert_eq!(ended["status"], "COMPLETED", "{ended}");
    let replay = json!({"mode": "with_overrides", "override": {
        "llm:main:1": {"kind": "llm_provider_response", "value": "no"}}});
    let replay = expect(client.post(&format!("/v1/tasks/{task}/replay"), &replay), 202);
    let replay = replay["id"].as_str().unwrap().to_owned();
    assert_eq!(settled(&mut client, &replay)["status"], "COMPLETED");
    let told = expect(client.get(&format!("/v1/tasks/{replay}/divergence")), 200);
    assert_eq!(told["output"]["source"], json!({"approved": true, "said": "yes, do"}));
    assert_eq!(told["output"]["replay"], json!({"approved": false, "said": "no"}));
}

#[test]
fn a_secret_comes_from_a_vault_and_is_told_to_nobody() {
    const USES: &str = r#"
pub fn review(harness: Harness, input: any) {
  const token = harness.secrets.read("token")
  const done = harness.tools.invoke("post", {token: token})
  return {done: done}
}
"#;
    let server = TestServer::start();
    let mut client = operator(&server);
    let vault = json!({"provider": "quipu", "capabilities": []});
    let vault = expect(client.post("/v1/vaults", &vault), 201)["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/vaults/{vault}/secrets/token");
    let secret = json!({"value": "tok-canary-1"}).to_string();
    let kept = client.send("PUT", &path, &[], Some(secret.as_bytes()));
    assert_eq!(kept.status, 200, "{}", kept.text());
    let persona = installed(&mut client, USES, &["secrets.read", "tools.invoke"]);
    let submit = json!({"session_id": "session_default", "persona_id": persona, "input": "go"});
    let task = expect(client.post("/v1/tasks", &submit), 202)["id"].as_str().unwrap().to_owned();
    let asks = asked(&mut client, &task);
    assert!(asks.get("arguments").is_none(), "a secret is in them: {asks}");
    let answer = json!({"key": asks["key"], "kind": asks["kind"], "value": true});
    expect(client.post(&format!("/v1/tasks/{task}/dependencies"), &answer), 201);
    assert_eq!(settled(&mut client, &task)["status"], "COMPLETED");
    let replay = expect(client.post(&format!("/v1/tasks/{task}/replay"), &json!({})), 202);
    let replay = replay["id"].as_str().unwrap().to_owned();
    assert_eq!(settled(&mut client, &replay)["status"], "COMPLETED", "the vault still has it");
    let other = json!({"mode": "with_overrides", "override": {
        "secret:token": {"kind": "secret_value", "value": "tok-canary-2"}}});
    let other = expect(client.post(&format!("/v1/tasks/{task}/replay"), &other), 202);
    let other = other["id"].as_str().unwrap().to_owned();
    assert_eq!(settled(&mut client, &other)["status"], "COMPLETED", "it is held while it lasts");
    for task in [task, replay, other] {
        for part in ["", "/events", "/receipts"] {
            let text = client.get(&format!("/v1/tasks/{task}{part}")).text();
            assert!(!text.contains("canary"), "{text}");
        }
    }
}

#[test]
fn nobody_of_little_authority_installs_a_module() {
    let server = TestServer::start();
    let mut bob = agent(&server, "bob");
    let persona = json!({
        "module_ref": "harn://acme/review@1", "name": "reviewer", "version": "1",
        "entry_workflow": "review", "description": "reviews plans", "autonomy_tier": "act_auto",
        "receipt_policy": "required", "metadata": {"module_artifact_id": "artifact_x"},
    });
    assert_eq!(bob.post("/v1/personas", &persona).status, 403);
}
