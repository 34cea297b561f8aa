//! Who is told what over `resolve`, and that nothing live comes into a worker's replay.

use quipu_harness::{Caller, Page, TaskFilter, WriteRequest};
use quipu_wire::harn::{
    ClaimTaskRequest, CreateSessionRequest, HarnError, HarnErrorCode, RecordDependencyRequest,
    ReplaySessionRequest, ReplayTaskRequest, ResolutionSource, ResolveDependencyRequest,
    ResolvedDependency, ResourceKind, SubmitTaskRequest, TaskState,
};
use serde_json::{Value, json};

use super::runs::{PERSONA, World, asked};

/// Somebody of little authority.
fn little(agent: &str) -> WriteRequest {
    WriteRequest { caller: Caller::new(agent, 4), ..asked(agent) }
}

async fn replay(world: &World, asked: &WriteRequest, task: &str, mut body: Value) -> String {
    body["metadata"] = json!({"executor": "worker"});
    let request = ReplayTaskRequest::parse(Some(body)).unwrap();
    world.harness.replay_task(asked, task, request).await.unwrap().envelope.id
}

async fn claim(world: &World, asked: &WriteRequest, task: &str) {
    let request = ClaimTaskRequest::parse(None).unwrap();
    world.harness.claim_task(asked, task, &request).await.unwrap();
}

async fn resolve(
    world: &World,
    asked: &WriteRequest,
    task: &str,
    key: &str,
) -> Result<ResolvedDependency, HarnError> {
    let request = ResolveDependencyRequest::parse(json!({"key": key})).unwrap();
    world.harness.resolve_dependency(asked, task, request).await
}

async fn record(world: &World, task: &str, body: Value) -> Result<(), HarnError> {
    let request = RecordDependencyRequest::parse(body).unwrap();
    world.harness.record_dependency(&little("worker"), task, request).await.map(|_| ())
}

async fn is_refused(world: &World, asked: &WriteRequest, task: &str, key: &str) {
    let refused = resolve(world, asked, task, key).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied, "{key}: {refused:?}");
}

#[tokio::test]
async fn a_secret_is_not_for_whoever_replays_somebody_elses_task() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let eve = little("eve");
    let own = replay(&world, &eve, &task, json!({"mode": "exact"})).await;
    claim(&world, &eve, &own).await;
    is_refused(&world, &eve, &own, "secret:token").await;
    assert_eq!(world.settled(&own).await.status, TaskState::Working, "a refusal ends nothing");
}

#[tokio::test]
async fn a_substituted_secret_is_for_its_giver_and_the_sources_worker_alone() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let secret = json!({"secret:token": {"kind": "secret_value", "value": "tok-other"}});
    let body = json!({"mode": "with_overrides", "override": secret});
    let (lead, eve, worker) = (little("lead"), little("eve"), little("worker"));
    for (agent, told) in [(&eve, false), (&lead, true), (&worker, true)] {
        let replay = replay(&world, &lead, &task, body.clone()).await;
        claim(&world, agent, &replay).await;
        if told {
            let given = resolve(&world, agent, &replay, "secret:token").await.unwrap();
            assert_eq!(given.value, Some(json!("tok-other")));
        } else {
            is_refused(&world, agent, &replay, "secret:token").await;
        }
    }
}

#[tokio::test]
async fn a_replay_of_ones_own_replay_opens_nothing_of_the_task_behind_it() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let eve = little("eve");
    let request = ReplayTaskRequest::parse(Some(json!({"mode": "exact"}))).unwrap();
    let first = world.harness.replay_task(&eve, &task, request).await.unwrap().envelope.id;
    world.harness.run_replay(&first).await.unwrap();
    world.settled(&first).await;
    let second = replay(&world, &eve, &first, json!({"mode": "exact"})).await;
    claim(&world, &eve, &second).await;
    is_refused(&world, &eve, &second, "secret:token").await;
}

#[tokio::test]
async fn internal_answers_are_for_worker_and_maker_and_those_of_receipts_for_the_worker() {
    let world = World::new().await;
    let task = world.submit().await;
    claim(&world, &little("worker"), &task).await;
    for visibility in ["internal", "receipt_only"] {
        let body = json!({"key": format!("host:{visibility}:1"), "kind": "host_fact", "value": 1,
            "visibility": visibility});
        record(&world, &task, body).await.unwrap();
    }
    world.complete("worker", &task, json!(1)).await;
    let cases = [("eve", false, false), ("boss", true, false), ("worker", true, true)];
    for (agent, internal, receipt_only) in cases {
        let agent = little(agent);
        let replay = replay(&world, &agent, &task, json!({"mode": "exact"})).await;
        claim(&world, &agent, &replay).await;
        for (key, told) in [("host:internal:1", internal), ("host:receipt_only:1", receipt_only)] {
            if told {
                resolve(&world, &agent, &replay, key).await.unwrap();
            } else {
                is_refused(&world, &agent, &replay, key).await;
            }
        }
    }
}

const KEPT: [&str; 2] = ["host:internal:1", "host:receipt_only:1"];

/// A Session of lead's that worker and eve joined, with a Task of boss's in which the worker kept answers for itself.
async fn with_kept_answers(world: &World) -> (String, String) {
    let request = CreateSessionRequest::new("workspace_default");
    let session = world.harness.create_session(&little("lead"), request).await.unwrap().envelope.id;
    for agent in ["worker", "eve"] {
        world.harness.join_session(&little(agent), &session).await.unwrap();
    }
    let body = json!({"persona_id": PERSONA, "input": "price"});
    let request = SubmitTaskRequest::parse(body, Some(&session)).unwrap();
    let task = world.harness.submit_task(&asked("boss"), request).await.unwrap().task.envelope.id;
    claim(world, &little("worker"), &task).await;
    for key in KEPT {
        let visibility = key.split(':').nth(1);
        let body = json!({"key": key, "kind": "host_fact", "value": 1, "visibility": visibility});
        record(world, &task, body).await.unwrap();
    }
    world.complete("worker", &task, json!(1)).await;
    (session, task)
}

#[tokio::test]
async fn who_opened_the_session_of_a_run_is_not_told_what_the_run_kept_for_itself() {
    let world = World::new().await;
    let (_, task) = with_kept_answers(&world).await;
    let lead = little("lead");
    let own = replay(&world, &lead, &task, json!({"mode": "exact"})).await;
    claim(&world, &lead, &own).await;
    for key in KEPT {
        is_refused(&world, &lead, &own, key).await;
    }
}

#[tokio::test]
async fn a_replay_of_a_session_opens_nothing_of_the_runs_in_it() {
    let world = World::new().await;
    let (session, _) = with_kept_answers(&world).await;
    let eve = little("eve");
    let request = ReplaySessionRequest::default();
    let fork = world.harness.replay_session(&eve, &session, request).await.unwrap().envelope.id;
    let filter = TaskFilter { session: Some(fork), ..TaskFilter::default() };
    let page = Page::first(ResourceKind::Task);
    let replayed = world.harness.tasks(&eve.caller, page, filter).await.unwrap().data;
    let [first] = replayed.as_slice() else { panic!("{replayed:?}") };
    world.harness.run_replay(&first.envelope.id).await.unwrap();
    world.settled(&first.envelope.id).await;
    let second = replay(&world, &eve, &first.envelope.id, json!({"mode": "exact"})).await;
    claim(&world, &eve, &second).await;
    for key in KEPT {
        is_refused(&world, &eve, &second, key).await;
    }
}

#[tokio::test]
async fn a_substituted_secret_is_not_for_authority_8_either() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let secret = json!({"secret:token": {"kind": "secret_value", "value": "tok-other"}});
    let body = json!({"mode": "with_overrides", "override": secret});
    let replay = replay(&world, &little("lead"), &task, body).await;
    claim(&world, &asked("boss"), &replay).await;
    is_refused(&world, &asked("boss"), &replay, "secret:token").await;
}

#[tokio::test]
async fn a_worker_puts_no_answer_of_its_own_into_a_replay() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let worker = little("worker");
    let replay = replay(&world, &worker, &task, json!({"mode": "exact"})).await;
    claim(&world, &worker, &replay).await;
    for key in ["llm:main:1", "llm:main:9"] {
        let body = json!({"key": key, "kind": "llm_provider_response", "value": "live"});
        let refused = record(&world, &replay, body).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::Conflict);
    }
}

#[tokio::test]
async fn a_key_of_secrets_takes_no_other_kind() {
    let world = World::new().await;
    let task = world.submit().await;
    claim(&world, &little("worker"), &task).await;
    let body = json!({"key": "secret:token", "kind": "host_fact", "value": "tok"});
    let refused = record(&world, &task, body).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::InvalidRequest);
    assert_eq!(refused.param.as_deref(), Some("kind"));
}

#[tokio::test]
async fn a_worker_is_given_the_state_at_the_checkpoint_recorded_or_substituted() {
    let world = World::new().await;
    let (task, checkpoint) = world.run().await;
    let key = format!("checkpoint:{checkpoint}");
    let substitute =
        json!({key.as_str(): {"kind": "checkpoint_value", "value": {"step": "other"}}});
    let cases = [
        (json!({}), ResolutionSource::Recorded, "after-crm"),
        (substitute, ResolutionSource::Overridden, "other"),
    ];
    for (overrides, source, step) in cases {
        let worker = little("worker");
        let body = json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint,
            "override": overrides});
        let replay = replay(&world, &worker, &task, body).await;
        claim(&world, &worker, &replay).await;
        let given = resolve(&world, &worker, &replay, &key).await.unwrap();
        assert_eq!((given.source, given.value), (source, Some(json!({"step": step}))));
        world.complete("worker", &replay, json!(1)).await;
        let deltas = world.receipt(&replay).await.deltas.unwrap_or_default();
        let substituted = deltas.iter().filter(|delta| delta.override_key.is_some()).count();
        assert_eq!(substituted, usize::from(source == ResolutionSource::Overridden));
        assert!(deltas.iter().all(|delta| delta.reason.is_some()), "{deltas:?}");
    }
}
