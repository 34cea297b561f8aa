//! What is told of secrets: that they are the same or not, to who knows them, and nothing to who guesses.

use quipu_core::Event;
use quipu_harness::{Caller, WriteRequest};
use quipu_wire::harn::{CreateSessionRequest, RecordDependencyRequest, ReplayTaskRequest};
use serde_json::{Value, json};

use super::runs::{World, asked, asked_under, options};

/// What a replay of a run with this substitute for its secret tells who asked for it.
async fn told(world: &World, agent: &str, task: &str, secret: &str) -> Value {
    let asked = WriteRequest { caller: Caller::new(agent, 4), ..asked(agent) };
    let body = json!({"mode": "with_overrides", "override": {
        "secret:token": {"kind": "secret_value", "value": secret}}});
    let request = ReplayTaskRequest::parse(Some(body)).unwrap();
    let replay = world.harness.replay_task(&asked, task, request).await.unwrap().envelope.id;
    world.harness.run_replay(&replay).await.unwrap();
    world.settled(&replay).await;
    let divergence = world.harness.divergence(&asked.caller, &replay).await.unwrap();
    let delta = world.receipt(&replay).await.deltas.unwrap().remove(0);
    let same = delta.before_sha256 == delta.after_sha256;
    json!({"diverged": divergence.diverged, "changed": divergence.dependencies.len(),
        "differs": divergence.first_difference.is_some(), "same": same})
}

#[tokio::test]
async fn a_guess_at_the_secret_of_anothers_run_is_told_nothing_by_a_replay() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let wrong = told(&world, "eve", &task, "tok-wrong").await;
    assert_eq!(wrong["same"], false, "{wrong}");
    assert_eq!(told(&world, "eve", &task, "tok-canary").await, wrong);
    let known = told(&world, "worker", &task, "tok-canary").await;
    assert_eq!((&known["diverged"], &known["same"]), (&json!(false), &json!(true)), "{known}");
    assert_eq!(told(&world, "worker", &task, "tok-wrong").await, wrong);
}

#[tokio::test]
async fn a_secret_is_fingerprinted_in_each_run_by_itself_and_as_nothing_else_of_the_servers() {
    let world = World::new().await;
    let mut fingerprints = Vec::new();
    // The second is what the key of module snapshots is made from.
    for value in ["tok-canary", "snapshots of modules"].map(Value::from) {
        fingerprints.push(options().secrets.digest(&value));
        for _ in 0..2 {
            let task = world.submit().await;
            world.claim("worker", &task).await;
            let body = json!({"key": "secret:token", "kind": "secret_value", "value": value});
            let request = RecordDependencyRequest::parse(body).unwrap();
            let recorded = world.harness.record_dependency(&asked("worker"), &task, request).await;
            fingerprints.push(recorded.unwrap().dependency.sha256);
        }
    }
    assert!(fingerprints.iter().all(Option::is_some), "{fingerprints:?}");
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 6, "{fingerprints:?}");
}

#[tokio::test]
async fn the_log_does_not_tell_whether_two_requests_said_the_same() {
    let world = World::new().await;
    for (agent, key) in [("boss", "one"), ("boss", "two"), ("eve", "one")] {
        let request = CreateSessionRequest::new("workspace_default");
        world.harness.create_session(&asked_under(agent, key), request).await.unwrap();
    }
    let mut digests = Vec::new();
    for commit in world.harness.field().commits(1, 1000).unwrap() {
        for sealed in commit.decode_header::<Event>().unwrap().events {
            if let Event::IdempotencyKept { mark } = sealed.event {
                digests.push(mark.digest);
            }
        }
    }
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 3);
}
