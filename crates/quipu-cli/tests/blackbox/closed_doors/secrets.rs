//! What the server fetched itself for a Task is never given to a worker who replays it.

use serde_json::{Value, json};

use super::harn_actor::{Actor, World, text};

const CANARY: &str = "tok-canary-7301";

/// Reads a secret and the clock, and asks somebody outside something with the secret in it.
const USES: &str = r#"
pub fn review(harness: Harness, input: any) {
  const token = harness.secrets.read("token")
  const at = harness.clock.now_ms()
  const done = harness.tools.invoke("post", {token: token})
  return {done: done, timed: at > 0}
}
"#;

/// A finished Task of the operator's module that somebody with little authority submitted, and what it stopped at.
fn finished(world: &mut World, worker: &mut Actor) -> (String, String) {
    world.operator.vault("token", CANARY);
    let capabilities = ["secrets.read", "clock.now_ms", "tools.invoke"];
    let persona = world.operator.module(USES, &capabilities, &Value::Null);
    let task = worker.submit(&persona);
    worker.until(&task, &["INPUT_REQUIRED"]);
    let events = worker.events(&task);
    let stop = events.iter().find(|event| event["payload"].get("asks").is_some()).unwrap();
    let asks = &stop["payload"]["asks"];
    let answer = json!({"key": asks["key"], "kind": asks["kind"], "value": true});
    worker.done("POST", &format!("/v1/tasks/{task}/dependencies"), &answer);
    assert_eq!(worker.output(&task), json!({"done": true, "timed": true}));
    (task, text(&stop["payload"]["checkpoint_id"]))
}

/// A replay that this actor works on.
fn claimed(actor: &mut Actor, task: &str, mut body: Value) -> String {
    body["metadata"] = json!({"executor": "worker"});
    let replay = actor.made(&format!("/v1/tasks/{task}/replay"), &body);
    actor.done("POST", &format!("/v1/tasks/{replay}/claim"), &json!({}));
    replay
}

#[test]
fn no_worker_is_given_what_the_server_fetched_itself() {
    let mut world = World::new();
    let mut mallory = world.agent("mallory", 4);
    let (task, checkpoint) = finished(&mut world, &mut mallory);
    let mut lead = world.agent("lead", 8);
    for actor in [&mut mallory, &mut lead, &mut world.operator] {
        let replay = claimed(actor, &task, json!({"mode": "exact"}));
        let resolve = format!("/v1/tasks/{replay}/dependencies/resolve");
        for key in ["secret:token", "time:1", &format!("checkpoint:{checkpoint}")] {
            let error = actor.refused("POST", &resolve, &json!({"key": key}), 403);
            assert_eq!(error["code"], "permission_denied", "{error}");
            assert_eq!((&error["param"], &error["details"]["key"]), (&json!("key"), &json!(key)));
            assert!(!error.to_string().contains(CANARY), "{error}");
        }
        let tool = json!({"key": "host:tools.invoke:1"});
        assert_eq!(actor.done("POST", &resolve, &tool)["value"], true, "a refusal ends nothing");
        for path in ["", "/events?limit=200", "/receipts"] {
            let text = actor.read(&format!("/v1/tasks/{replay}{path}")).to_string();
            assert!(!text.contains(CANARY), "{text}");
        }
    }
    for path in ["/events?limit=200", "/receipts", "/export"] {
        let text = world.operator.read(&format!("/v1/tasks/{task}{path}")).to_string();
        assert!(!text.contains(CANARY), "{path}");
    }
}

#[test]
fn the_server_itself_still_replays_with_the_secret_of_the_vault() {
    let mut world = World::new();
    let mut mallory = world.agent("mallory", 4);
    let (task, _) = finished(&mut world, &mut mallory);
    let replay = mallory.made(&format!("/v1/tasks/{task}/replay"), &json!({}));
    assert_eq!(mallory.output(&replay), json!({"done": true, "timed": true}));
    let told = mallory.read(&format!("/v1/tasks/{replay}/divergence"));
    assert_eq!(told["diverged"], false, "{told}");
}

#[test]
fn a_worker_may_be_given_a_substitute_by_who_replays() {
    let mut world = World::new();
    let mut mallory = world.agent("mallory", 4);
    let (task, _) = finished(&mut world, &mut mallory);
    let body = json!({"mode": "with_overrides", "override": {
        "secret:token": {"kind": "secret_value", "value": "of-her-own"},
        "time:1": {"kind": "time", "value": 7}}});
    let replay = claimed(&mut mallory, &task, body);
    let resolve = format!("/v1/tasks/{replay}/dependencies/resolve");
    for (key, value) in [("secret:token", json!("of-her-own")), ("time:1", json!(7))] {
        assert_eq!(mallory.done("POST", &resolve, &json!({"key": key}))["value"], value);
    }
}

#[test]
fn a_vault_does_not_stand_in_for_a_secret_that_a_worker_recorded() {
    let mut world = World::new();
    let mut worker = world.agent("worker", 4);
    world.operator.vault("token", CANARY);
    let persona = world.operator.made("/v1/personas", &super::harn_actor::persona("act_auto"));
    let task = worker.submit(&persona);
    worker.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
    // Whoever knows the secret may say so; whoever guesses is told nothing.
    for (key, value) in [("secret:token", CANARY), ("secret:other", "guess")] {
        let body = json!({"key": key, "kind": "secret_value", "value": value});
        worker.done("POST", &format!("/v1/tasks/{task}/dependencies"), &body);
    }
    worker.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    let replay = claimed(&mut worker, &task, json!({"mode": "exact"}));
    let resolve = format!("/v1/tasks/{replay}/dependencies/resolve");
    let error = worker.refused("POST", &resolve, &json!({"key": "secret:token"}), 409);
    assert_eq!(error["details"]["first_unavailable"]["kind"], "secret_value", "{error}");
    assert!(!error.to_string().contains(CANARY));
}

#[test]
fn a_guess_at_a_secret_is_told_nothing_by_its_fingerprint_or_by_a_replay() {
    let mut world = World::new();
    let mut mallory = world.agent("mallory", 4);
    let (task, _) = finished(&mut world, &mut mallory);
    let receipt = mallory.receipt(&task);
    let redactions = receipt["redactions"].as_array().unwrap().iter();
    let proofs: Vec<&Value> = redactions.map(|each| &each["proof_hash"]).collect();
    assert!(!proofs.is_empty() && proofs.iter().all(|proof| proof.is_string()), "{receipt}");
    let persona = world.operator.made("/v1/personas", &super::harn_actor::persona("act_auto"));
    let own = mallory.submit(&persona);
    mallory.done("POST", &format!("/v1/tasks/{own}/claim"), &json!({}));
    let guess = json!({"key": "secret:token", "kind": "secret_value", "value": CANARY});
    let recorded = mallory.done("POST", &format!("/v1/tasks/{own}/dependencies"), &guess);
    assert!(recorded["sha256"].is_string() && !proofs.contains(&&recorded["sha256"]), "{recorded}");
    let [right, wrong] = [CANARY, "tok-guess-9999"].map(|guess| {
        let body = json!({"mode": "with_overrides", "override": {
            "secret:token": {"kind": "secret_value", "value": guess}}});
        let replay = mallory.made(&format!("/v1/tasks/{task}/replay"), &body);
        let status = mallory.ended(&replay)["status"].clone();
        let divergence = mallory.read(&format!("/v1/tasks/{replay}/divergence"));
        let changed = divergence["dependencies"].as_array().unwrap().len();
        let delta = mallory.receipt(&replay)["deltas"][0].clone();
        let same = delta["before_sha256"] == delta["after_sha256"];
        json!([status, divergence["diverged"], changed, divergence["output"], same])
    });
    assert_eq!(right, wrong);
}
