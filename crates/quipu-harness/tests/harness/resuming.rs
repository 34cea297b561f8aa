//! Runs that go on where their worker was lost: answers that are given back, leases, the next Task, attempts.

use quipu_harness::{Caller, Harness, Page, TaskFilter, WriteRequest};
use quipu_wire::harn::{
    ClaimNextRequest, ClaimTaskRequest, DependencyEntry, FailTaskRequest, HarnError, HarnErrorCode,
    HarnTask, HeartbeatRequest, RecordDependencyRequest, RegisterArtifactRequest,
    ReplayTaskRequest, ResolveAnswer, ResolveDependencyRequest, ResourceKind, TaskState, Withheld,
};
use serde_json::{Value, json};

use crate::support::{asked, caller, complete, engine, harness, open, persona, submit};

async fn task_with(harness: &Harness, metadata: Value) -> String {
    let persona = persona(harness, "required").await;
    submit(harness, json!({"persona_id": persona, "input": "price it", "metadata": metadata})).await
}

async fn claim_as(harness: &Harness, agent: &str, task: &str, lease_ms: u64) {
    let request = ClaimTaskRequest { lease_ms, agent_id: None };
    harness.claim_task(&asked(agent), task, &request).await.unwrap();
}

async fn record_as(
    harness: &Harness,
    agent: &str,
    task: &str,
    body: Value,
) -> Result<bool, HarnError> {
    let request = RecordDependencyRequest::parse(body).unwrap();
    Ok(harness.record_dependency(&asked(agent), task, request).await?.again)
}

async fn resolve_as(
    harness: &Harness,
    agent: &str,
    task: &str,
    body: Value,
) -> Result<Value, HarnError> {
    let request = ResolveDependencyRequest::parse(body).unwrap();
    let answer: ResolveAnswer = harness.resolve(&asked(agent), task, request).await?;
    Ok(serde_json::to_value(answer).unwrap())
}

async fn answers(harness: &Harness, agent: &str, task: &str) -> Vec<DependencyEntry> {
    harness.dependencies(&caller(agent), task, None, 200).await.unwrap().data
}

async fn next_for(harness: &Harness, agent: &str, body: Value) -> Option<HarnTask> {
    let request = ClaimNextRequest::parse(body).unwrap();
    harness.claim_next(&asked(agent), &request).await.unwrap()
}

async fn fail_again(harness: &Harness, agent: &str, task: &str) -> HarnTask {
    let body = json!({"code": "busy", "message": "the model is busy", "retryable": true});
    let request = FailTaskRequest::parse(body).unwrap();
    harness.fail_task(&asked(agent), task, request).await.unwrap()
}

/// Scripted time goes on by a millisecond whenever somebody looks at the clock.
fn pass(harness: &Harness, looks: u32) {
    for _ in 0..looks {
        harness.field().origin().now_ms();
    }
}

fn llm(key: u32, visibility: &str) -> Value {
    json!({"key": format!("llm:main:{key}"), "kind": "llm_provider_response", "visibility": visibility,
           "request": {"ask": key}, "value": {"content": format!("answer {key}")}})
}

#[tokio::test]
async fn the_next_worker_is_given_what_the_lost_one_recorded_and_told_what_it_did_not() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 40).await;
    for (key, visibility) in [(1, "internal"), (2, "receipt_only"), (3, "public")] {
        record_as(&harness, "bob", &id, llm(key, visibility)).await.unwrap();
    }
    let secret = json!({"key": "secret:token", "kind": "secret_value", "value": "tok-canary"});
    record_as(&harness, "bob", &id, secret).await.unwrap();
    pass(&harness, 60);
    claim_as(&harness, "eve", &id, 600_000).await;
    let found = answers(&harness, "eve", &id).await;
    let keys: Vec<_> = found.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["llm:main:1", "llm:main:2", "llm:main:3", "secret:token"]);
    assert_eq!(found[1].value, Some(json!({"content": "answer 2"})));
    assert_eq!((&found[3].value, found[3].withheld), (&None, Some(Withheld::Secret)));
    let ask = |key: u32| json!({"key": format!("llm:main:{key}"), "request": {"ask": key}});
    let given = resolve_as(&harness, "eve", &id, ask(1)).await.unwrap();
    assert_eq!(
        (&given["source"], &given["value"]["content"]),
        (&json!("recorded"), &json!("answer 1"))
    );
    assert_eq!(given["divergent"], json!(false));
    let other = json!({"key": "llm:main:1", "request": {"ask": "else"}});
    assert_eq!(resolve_as(&harness, "eve", &id, other).await.unwrap()["divergent"], json!(true));
    let none = resolve_as(&harness, "eve", &id, ask(4)).await.unwrap();
    assert_eq!(none, json!({"key": "llm:main:4", "source": "none"}));
    let secret = resolve_as(&harness, "eve", &id, json!({"key": "secret:token"})).await.unwrap();
    assert_eq!((&secret["source"], &secret["withheld"]), (&json!("none"), &json!("secret")));
    record_as(&harness, "eve", &id, llm(4, "internal")).await.unwrap();
    let late = resolve_as(&harness, "bob", &id, ask(1)).await.unwrap_err();
    assert_eq!(late.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn answers_that_are_not_for_a_caller_are_named_and_withheld() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 600_000).await;
    for (key, visibility) in [(1, "internal"), (2, "receipt_only"), (3, "public")] {
        record_as(&harness, "bob", &id, llm(key, visibility)).await.unwrap();
    }
    let shown = |found: Vec<DependencyEntry>| {
        found.into_iter().map(|it| (it.value.is_some(), it.withheld)).collect::<Vec<_>>()
    };
    let hidden = (false, Some(Withheld::Visibility));
    let given = (true, None);
    assert_eq!(shown(answers(&harness, "eve", &id).await), [hidden, hidden, given]);
    // Who submitted it sees what is internal to it.
    assert_eq!(shown(answers(&harness, "alice", &id).await), [given, hidden, given]);
    assert_eq!(shown(answers(&harness, "bob", &id).await), [given; 3]);
    let boss = quipu_harness::Caller::new("boss", 8);
    let found = harness.dependencies(&boss, &id, None, 200).await.unwrap().data;
    assert_eq!(shown(found), [given; 3]);
}

#[tokio::test]
async fn a_replay_lists_no_answer_that_its_source_keeps_from_who_asked_for_it() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 600_000).await;
    for (key, visibility) in [(1, "internal"), (2, "receipt_only"), (3, "public")] {
        record_as(&harness, "bob", &id, llm(key, visibility)).await.unwrap();
    }
    complete(&harness, &id).await;
    harness.settle_all().await.unwrap();
    let told = |found: Vec<DependencyEntry>| {
        let tells = |it: &DependencyEntry| it.value.is_some() || it.sha256.is_some();
        found.iter().map(tells).collect::<Vec<_>>()
    };
    // Not even digests, from which a short answer could be guessed.
    assert_eq!(told(answers(&harness, "eve", &id).await), [false, false, true]);
    let request = ReplayTaskRequest::parse(Some(json!({}))).unwrap();
    let eve = WriteRequest { caller: Caller::new("eve", 4), ..asked("eve") };
    let replay = harness.replay_task(&eve, &id, request).await.unwrap().envelope.id;
    harness.run_replay(&replay).await.unwrap();
    assert_eq!(told(answers(&harness, "eve", &replay).await), [false, false, true]);
    let by_worker = ReplayTaskRequest::parse(Some(json!({"metadata": {"executor": "worker"}})));
    let again = harness.replay_task(&eve, &id, by_worker.unwrap()).await.unwrap().envelope.id;
    claim_as(&harness, "bob", &again, 600_000).await;
    for key in 1..4 {
        resolve_as(&harness, "bob", &again, json!({"key": format!("llm:main:{key}")}))
            .await
            .unwrap();
    }
    assert_eq!(told(answers(&harness, "eve", &again).await), [false, false, true]);
}

#[tokio::test]
async fn a_thousand_answers_come_in_pages_in_the_order_of_their_recording() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 600_000).await;
    for key in (0..1000).rev() {
        record_as(&harness, "bob", &id, llm(key, "internal")).await.unwrap();
    }
    let (mut keys, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = harness.dependencies(&caller("bob"), &id, after.as_deref(), 200).await.unwrap();
        keys.extend(page.data.into_iter().map(|it| it.key));
        after = page.next_cursor;
        if after.is_none() {
            break;
        }
    }
    let wanted: Vec<_> = (0..1000).rev().map(|key| format!("llm:main:{key}")).collect();
    assert_eq!(keys, wanted);
    let refused =
        harness.dependencies(&caller("bob"), &id, Some("llm:none:1"), 5).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.param.as_deref()),
        (HarnErrorCode::InvalidRequest, Some("after_key"))
    );
}

/// One reading of the log has 16 MiB at most.
#[tokio::test]
async fn answers_that_are_more_than_one_reading_of_the_log_are_listed_and_replayed() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 600_000).await;
    let large = "x".repeat(3 << 20);
    for key in 0..12u32 {
        let mut body = llm(key, "internal");
        body["value"] = json!(format!("{key}{large}"));
        record_as(&harness, "bob", &id, body).await.unwrap();
    }
    let (mut keys, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = harness.dependencies(&caller("bob"), &id, after.as_deref(), 200).await.unwrap();
        assert!(page.data.len() <= 3, "a page has 8 MiB of values");
        keys.extend(page.data.into_iter().map(|it| it.key));
        after = page.next_cursor;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(keys, (0..12).map(|key| format!("llm:main:{key}")).collect::<Vec<_>>());
    complete(&harness, &id).await;
    let request = quipu_wire::harn::ReplayTaskRequest::default();
    let replay = harness.replay_task(&asked("alice"), &id, request).await.unwrap().envelope.id;
    harness.run_replay(&replay).await.unwrap();
    let replay = harness.task(&caller("alice"), &replay).await.unwrap();
    assert_eq!(replay.status, TaskState::Completed, "{:?}", replay.failure);
}

#[tokio::test]
async fn who_comes_back_after_its_lease_is_told_so_and_its_same_answer_again_is_the_same() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 20).await;
    record_as(&harness, "bob", &id, llm(1, "internal")).await.unwrap();
    pass(&harness, 60);
    for holder in [None, Some("eve")] {
        if let Some(holder) = holder {
            claim_as(&harness, holder, &id, 600_000).await;
        }
        assert!(record_as(&harness, "bob", &id, llm(1, "internal")).await.unwrap());
        let mut other = llm(1, "internal");
        other["value"] = json!("else");
        for body in [other, llm(2, "internal")] {
            let late = record_as(&harness, "bob", &id, body).await.unwrap_err();
            assert_eq!(late.code, HarnErrorCode::Conflict);
        }
        let beat = harness.heartbeat(&asked("bob"), &id, &HeartbeatRequest::default()).await;
        assert_eq!(beat.unwrap_err().code, HarnErrorCode::Conflict);
    }
    let mallory = record_as(&harness, "mallory", &id, llm(1, "internal")).await.unwrap_err();
    assert_eq!(mallory.code, HarnErrorCode::Conflict, "nobody finds out an answer by guessing");
}

#[tokio::test]
async fn a_heartbeat_keeps_a_task_and_writes_only_when_it_must() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 100).await;
    for _ in 0..20 {
        pass(&harness, 30);
        let lease =
            harness.heartbeat(&asked("bob"), &id, &HeartbeatRequest::default()).await.unwrap();
        assert_eq!((lease.agent_id.as_str(), lease.expires_at.is_some()), ("bob", true));
    }
    let before = harness.field().head().position;
    let longer = HeartbeatRequest { lease_ms: Some(600_000), agent_id: None };
    harness.heartbeat(&asked("bob"), &id, &longer).await.unwrap();
    harness.heartbeat(&asked("bob"), &id, &longer).await.unwrap();
    assert_eq!(harness.field().head().position, before + 1, "the second changed nothing");
    complete(&harness, &id).await;
    let late = harness.heartbeat(&asked("bob"), &id, &longer).await.unwrap_err();
    assert_eq!(late.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn the_next_task_is_the_oldest_of_its_queue_and_each_worker_gets_another() {
    let harness = harness();
    let first = task_with(&harness, json!({"queue": "prices"})).await;
    let second = task_with(&harness, json!({"queue": "prices"})).await;
    let other = task_with(&harness, json!({"queue": "mail"})).await;
    let ask = || json!({"queue": "prices"});
    let (one, two) =
        tokio::join!(next_for(&harness, "bob", ask()), next_for(&harness, "eve", ask()));
    let mut taken = [one.unwrap().envelope.id, two.unwrap().envelope.id];
    taken.sort();
    let mut wanted = [first, second];
    wanted.sort();
    assert_eq!(taken, wanted);
    assert!(next_for(&harness, "bob", ask()).await.is_none());
    let by_persona = next_for(&harness, "bob", json!({"persona_id": "persona_reviewer"})).await;
    assert_eq!(by_persona.unwrap().envelope.id, other);
    let nothing = ClaimNextRequest::parse(json!({})).unwrap_err();
    assert_eq!(nothing.path, "queue");
}

#[tokio::test]
async fn a_part_of_a_task_is_found_by_its_parent_and_by_who_asked() {
    let harness = harness();
    let parent = task_with(&harness, json!({})).await;
    let persona = persona(&harness, "required").await;
    let part = json!({"persona_id": persona, "input": "a part", "parent_task_id": parent});
    let part = submit(&harness, part).await;
    let none = next_for(&harness, "bob", json!({"filter": {"created_by": "mallory"}})).await;
    assert!(none.is_none());
    let found = next_for(&harness, "bob", json!({"filter": {"parent_task_id": parent}})).await;
    assert_eq!(found.unwrap().envelope.id, part);
    let page = || Page::first(ResourceKind::Task);
    let filter = TaskFilter { parent: Some(parent.clone()), ..TaskFilter::default() };
    let listed = harness.tasks(&caller("alice"), page(), filter).await.unwrap().data;
    assert_eq!(
        listed.iter().map(|it| it.envelope.id.as_str()).collect::<Vec<_>>(),
        [part.as_str()]
    );
    let status = TaskFilter { status: Some(TaskState::Submitted), ..TaskFilter::default() };
    let listed = harness.tasks(&caller("alice"), page(), status).await.unwrap().data;
    assert_eq!(
        listed.iter().map(|it| it.envelope.id.as_str()).collect::<Vec<_>>(),
        [parent.as_str()]
    );
}

#[tokio::test]
async fn a_worker_that_waits_is_given_what_is_submitted_meanwhile() {
    let harness = harness();
    let waiting = harness.clone();
    let waits = tokio::spawn(async move {
        let request = json!({"queue": "prices", "wait_ms": 30_000});
        next_for(&waiting, "bob", request).await
    });
    tokio::task::yield_now().await;
    let id = task_with(&harness, json!({"queue": "prices"})).await;
    assert_eq!(waits.await.unwrap().unwrap().envelope.id, id);
}

#[tokio::test]
async fn a_failure_to_try_again_makes_the_task_due_after_its_pause_until_its_attempts_are_used_up()
{
    let harness = harness();
    let retry = json!({"max_attempts": 3, "backoff_ms": 100, "backoff_factor": 3});
    let id = task_with(&harness, json!({"queue": "prices", "retry": retry})).await;
    for failed in 1..=2u32 {
        assert_eq!(
            next_for(&harness, "bob", json!({"queue": "prices"})).await.unwrap().envelope.id,
            id
        );
        record_as(&harness, "bob", &id, llm(failed, "internal")).await.unwrap();
        let task = fail_again(&harness, "bob", &id).await;
        assert_eq!((task.status, task.assigned_agent_id), (TaskState::Working, None));
        let state = task.envelope.metadata.get("retry_state").unwrap().clone();
        assert_eq!(state["failed_attempts"], json!(failed));
        assert!(
            next_for(&harness, "bob", json!({"queue": "prices"})).await.is_none(),
            "not due yet"
        );
        pass(&harness, 400);
    }
    next_for(&harness, "eve", json!({"queue": "prices"})).await.unwrap();
    assert_eq!(answers(&harness, "eve", &id).await.len(), 2, "what was paid for is still there");
    let task = fail_again(&harness, "eve", &id).await;
    let failure = task.failure.unwrap();
    assert_eq!((task.status, failure.code.as_str()), (TaskState::Failed, "attempts_exhausted"));
    assert_eq!(failure.details["last"]["code"], json!("busy"));
    let dead = TaskFilter { dead_letter: Some(true), ..TaskFilter::default() };
    let page = Page::first(ResourceKind::Task);
    let dead = harness.tasks(&caller("alice"), page, dead).await.unwrap().data;
    assert_eq!(dead.iter().map(|it| it.envelope.id.as_str()).collect::<Vec<_>>(), [id.as_str()]);
}

#[tokio::test]
async fn lost_workers_use_up_attempts_and_the_last_one_leaves_a_dead_letter_with_a_receipt() {
    let harness = harness();
    let retry = json!({"max_attempts": 2});
    let id = task_with(&harness, json!({"queue": "prices", "retry": retry})).await;
    for _ in 0..2 {
        let request = json!({"queue": "prices", "lease_ms": 5});
        assert!(next_for(&harness, "bob", request).await.is_some());
        pass(&harness, 40);
        let late = harness.heartbeat(&asked("bob"), &id, &HeartbeatRequest::default()).await;
        assert_eq!(late.unwrap_err().code, HarnErrorCode::Conflict);
    }
    harness.settle_all().await.unwrap();
    let task = harness.task(&caller("alice"), &id).await.unwrap();
    let failure = task.failure.unwrap();
    assert_eq!((task.status, failure.code.as_str()), (TaskState::Failed, "attempts_exhausted"));
    assert!(!failure.details.contains_key("last"));
    assert!(task.receipt_id.is_some());
    let claimed =
        harness.claim_task(&asked("bob"), &id, &ClaimTaskRequest::parse(None).unwrap()).await;
    assert_eq!(claimed.unwrap_err().code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn attempts_queues_and_parents_are_the_same_after_the_log_is_read_again() {
    let engine = engine();
    let harness = open(&engine);
    let retry = json!({"max_attempts": 3, "backoff_ms": 60_000});
    let id = task_with(&harness, json!({"queue": "prices", "retry": retry})).await;
    next_for(&harness, "bob", json!({"queue": "prices"})).await.unwrap();
    fail_again(&harness, "bob", &id).await;
    let waiting = task_with(&harness, json!({"queue": "mail"})).await;
    let (hash, bytes) =
        harness.field().with_state(|state| (state.hash(), state.to_bytes().unwrap()));
    let read = quipu_core::State::from_bytes(&bytes).unwrap();
    assert_eq!(read.hash(), hash);
    assert_eq!(read.work.open_in("mail").count(), 1);
    assert_eq!(read.tasks.open().count(), 2);
    assert_eq!(read.work.attempts(&id).map(|(_, failed)| failed), Some(1));
    drop(harness);
    let again = open(&engine);
    assert_eq!(again.field().with_state(quipu_core::State::hash), hash);
    let next = next_for(&again, "bob", json!({"queue": "mail"})).await.unwrap();
    assert_eq!(next.envelope.id, waiting);
}

#[tokio::test]
async fn metadata_that_say_something_else_of_queue_or_retry_are_refused_by_name() {
    for (metadata, path) in [
        (json!({"queue": 7}), "metadata.queue"),
        (json!({"retry": "often"}), "metadata.retry"),
        (json!({"retry": {}}), "metadata.retry.max_attempts"),
        (json!({"retry": {"max_attempts": 0}}), "metadata.retry.max_attempts"),
        (
            json!({"retry": {"max_attempts": 2, "backoff_factor": 0.5}}),
            "metadata.retry.backoff_factor",
        ),
        (
            json!({"retry": {"max_attempts": 2, "backoff_ms": 86_400_001}}),
            "metadata.retry.backoff_ms",
        ),
    ] {
        let harness = harness();
        let persona = persona(&harness, "required").await;
        let body = json!({"persona_id": persona, "input": "x", "metadata": metadata});
        let request =
            quipu_wire::harn::SubmitTaskRequest::parse(body, Some("session_default")).unwrap();
        let write: WriteRequest = asked("alice");
        let refused = harness.submit_task(&write, request).await.unwrap_err();
        assert_eq!(refused.param.as_deref(), Some(path));
    }
}

#[tokio::test]
async fn an_answer_in_an_artifact_is_for_who_goes_on_and_one_that_was_taken_away_is_said_to_be() {
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 60).await;
    let body = json!({"kind": "dataset", "mime_type": "application/json", "visibility": "internal", "task_id": id});
    let body = RegisterArtifactRequest::parse(body).unwrap();
    let artifact = harness.register_artifact(&asked("bob"), body).await.unwrap().envelope.id;
    let bytes = br#"{"price": 9007199254740993, "rate": 1.0}"#.to_vec();
    harness.put_artifact_content(&asked("bob"), &artifact, bytes.clone()).await.unwrap();
    let answer =
        json!({"key": "llm:main:1", "kind": "llm_provider_response", "artifact_id": artifact});
    record_as(&harness, "bob", &id, answer).await.unwrap();
    let stranger = harness.artifact_content(&caller("mallory"), &artifact).await.unwrap_err();
    assert_eq!(stranger.code, HarnErrorCode::PermissionDenied);
    pass(&harness, 90);
    claim_as(&harness, "eve", &id, 600_000).await;
    let ask = || json!({"key": "llm:main:1"});
    let found = resolve_as(&harness, "eve", &id, ask()).await.unwrap();
    assert_eq!((&found["source"], &found["artifact_id"]), (&json!("recorded"), &json!(artifact)));
    let content = harness.artifact_content(&caller("eve"), &artifact).await.unwrap();
    assert_eq!(content.bytes, bytes, "byte for byte");
    let lost = harness.artifact_content(&caller("bob"), &artifact).await.unwrap_err();
    assert_eq!(lost.code, HarnErrorCode::PermissionDenied, "it has the Task no longer");
    harness.redact_artifact(&caller("bob"), &artifact).await.unwrap();
    let gone = resolve_as(&harness, "eve", &id, ask()).await.unwrap();
    assert_eq!((&gone["source"], &gone["withheld"]), (&json!("none"), &json!("erased")));
}

#[tokio::test]
async fn numbers_that_a_body_cannot_keep_are_refused_or_canonical_and_texts_come_back_as_they_were()
{
    let large = r#"{"key": "llm:main:1", "kind": "host_fact", "value": {"id": 9007199254740993}}"#;
    let refused = quipu_wire::json::canon::parse(large.as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("value.id"), "{refused}");
    let harness = harness();
    let id = task_with(&harness, json!({})).await;
    claim_as(&harness, "bob", &id, 600_000).await;
    let text = r#"{"id":9007199254740993,"one":1.0,"none":-0.0,"big":123456789012345678901234567890,"e":1e400}"#;
    let body =
        json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": {"json": text}});
    record_as(&harness, "bob", &id, body).await.unwrap();
    assert_eq!(answers(&harness, "bob", &id).await[0].value, Some(json!({"json": text})));
    let given = resolve_as(&harness, "bob", &id, json!({"key": "llm:main:1"})).await.unwrap();
    assert_eq!(given["value"], json!({"json": text}));
}
