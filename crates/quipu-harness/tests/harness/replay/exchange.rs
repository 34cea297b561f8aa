//! Tasks that are taken from one server to another, the published replay among them, and whole Sessions that are
//! replayed.

use std::sync::Arc;

use quipu_harness::{EventScope, Harness};
use quipu_replay::{
    receipt::{SecretHashing, canonical_bytes, preimage},
    task::HashTrust,
};
use quipu_wire::harn::{
    CreateSessionRequest, HarnErrorCode, IssuerKind, ReplaySessionRequest, Sha256,
    SubmitTaskRequest, TaskExport, TaskState,
};
use serde_json::{Value, json};

use super::runs::{World, asked, caller, options};

fn unsigned(mut receipt: quipu_wire::harn::Receipt) -> Vec<u8> {
    receipt.signatures.clear();
    canonical_bytes(&receipt).unwrap()
}

fn read(document: &Value) -> TaskExport {
    serde_json::from_value(document.clone()).unwrap()
}

#[tokio::test]
async fn two_servers_with_the_same_task_and_identity_issue_the_same_bytes() {
    let (here, there) = (World::new().await, World::new().await);
    // Positions differ, so that nothing of this log can be in the bytes by chance.
    there.submit().await;
    let (task, checkpoint) = here.run().await;
    let export = here.harness.export_task(&caller("boss"), &task).await.unwrap();
    let document = serde_json::to_value(&export).unwrap();
    assert!(!document.to_string().contains("tok-canary"));
    let brought = there.harness.import_task(&asked("boss"), read(&document)).await.unwrap();
    assert_eq!((brought.envelope.id.as_str(), brought.status), (&*task, TaskState::Completed));
    let again = there.harness.export_task(&caller("boss"), &task).await.unwrap();
    assert_eq!(again.events, export.events, "what is taken on is what was brought");
    let overrides = json!({"mode": "with_overrides", "override": {
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}, "reason": "what if"},
        "secret:token": {"kind": "secret_value", "value": "other"}}});
    let from = json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint});
    for body in [json!({}), overrides, from] {
        let one = here.replayed(&task, body.clone()).await;
        let other = there.replayed(&task, body.clone()).await;
        assert_eq!((one.status, other.status), (TaskState::Completed, TaskState::Completed));
        assert_eq!(one.envelope.id, other.envelope.id);
        let receipts =
            (here.receipt(&one.envelope.id).await, there.receipt(&other.envelope.id).await);
        let (one, other) = (unsigned(receipts.0), unsigned(receipts.1));
        assert_eq!(String::from_utf8(one).unwrap(), String::from_utf8(other).unwrap(), "{body}");
    }
}

#[tokio::test]
async fn what_was_brought_keeps_its_ids_and_times_and_is_told_once() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = here.run().await;
    let export = here.harness.export_task(&caller("boss"), &task).await.unwrap();
    there.harness.import_task(&asked("boss"), export.clone()).await.unwrap();
    let before: Vec<_> = here.events(&task).await;
    let after: Vec<_> = there.events(&task).await;
    let facts = |events: &[quipu_wire::harn::Event]| -> Vec<(String, String, u64)> {
        // The receipt and its log are no part of the run.
        let end = events.iter().position(|event| event.event.as_str() == "task.completed");
        let run = events.iter().take(end.unwrap() + 1);
        run.map(|it| (it.envelope.id.clone(), it.envelope.created_at.clone(), it.sequence))
            .collect()
    };
    assert_eq!(facts(&before), facts(&after));
    for event in &after {
        let page = there.page(&task, Some(&event.envelope.id), 1).await;
        let place = after.iter().position(|it| it == event).unwrap();
        assert_eq!(page.first(), after.get(place + 1), "a cursor is one of its own stream");
    }
    let all =
        there.harness.events(&caller("boss"), EventScope::default(), None, 200).await.unwrap();
    let told = all.data.iter().filter(|event| event.task_id.as_deref() == Some(&*task)).count();
    assert_eq!(told, after.len());
    let twice = there.harness.import_task(&asked("boss"), export).await.unwrap_err();
    assert_eq!(twice.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn a_document_that_contradicts_itself_is_refused_and_leaves_nothing() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = here.run().await;
    let export = here.harness.export_task(&caller("boss"), &task).await.unwrap();
    let document = serde_json::to_value(&export).unwrap();
    let answer = export.events.iter().position(|it| {
        it.dependency.as_ref().is_some_and(|dependency| dependency.key == "llm:main:1")
    });
    let at = format!("/events/{}", answer.unwrap());
    let cases = [
        ("/task/status", json!("WORKING")),
        ("/task/status", json!("FAILED")),
        ("/task/input", json!({"pay": 1_000_000})),
        ("/outcome/metadata/output", json!("pay 1,000,000")),
        ("/task/id", json!("")),
        ("/events/1/sequence", json!(0)),
        ("/events/1/created_at", json!("yesterday")),
        ("/events/1/id", document["events"][0]["id"].clone()),
        (&format!("{at}/dependency/value"), json!("forged")),
        (&format!("{at}/dependency/key"), json!("no key")),
        (&format!("{at}/dependency/kind"), json!("secret_value")),
        ("/receipt/trust/start_tier", json!("shadow")),
        ("/receipt/identifiers/task_id", json!("task_other")),
        ("/outcome/task_id", json!("task_other")),
    ];
    let before = there.harness.field().head();
    for (place, value) in cases {
        let mut wrong = document.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        let refused = there.harness.import_task(&asked("boss"), read(&wrong)).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::InvalidRequest, "{place}: {refused:?}");
    }
    let mut weak = asked("weak");
    weak.caller.authority = 7;
    let refused = there.harness.import_task(&weak, read(&document)).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    let refused = here.harness.export_task(&weak.caller, &task).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    assert_eq!(there.harness.field().head(), before);
}

/// The log that the published request needs, a receipt of its source with the published placeholders, and the
/// request. Ours: only the request and the receipt that must come out are published.
fn published(part: &str) -> Value {
    let both: Value = serde_json::from_str(include_str!("published.json")).unwrap();
    both[part].clone()
}

#[tokio::test]
async fn the_published_replay_of_an_imported_task_gives_the_published_receipt() {
    let mut world = World::new().await;
    let mut conformance = options();
    conformance.issuer.id = "harness_conformance".to_owned();
    conformance.issuer.kind = IssuerKind::Harness;
    conformance.issuer.name = Some("Harn replay conformance".to_owned());
    conformance.secrets = SecretHashing::Omit;
    conformance.replay_trust = HashTrust::Declared;
    let field = Arc::clone(world.harness.field());
    world.harness = Harness::with_options(field, Arc::new(conformance));
    let brought =
        world.harness.import_task(&asked("boss"), read(&published("export"))).await.unwrap();
    assert_eq!(brought.session_id, "session_replay_fixture");
    let replay = world.replayed(&brought.envelope.id, published("request")).await.envelope.id;
    assert_eq!(replay, "task_replay_01JZ6Y2ZKMB8H8DMXBGXR1FPGS");
    let receipt = world.receipt(&replay).await;
    let value = serde_json::to_value(&receipt).unwrap();
    let preimage = preimage(&value).unwrap();
    let expected = "c665e22ccc7b42cd3d910b2c0767a1709bd4e135c9be159816c19a917aea9d04";
    assert_eq!(Sha256::of(&preimage).bare(), expected, "{}", String::from_utf8_lossy(&preimage));
    assert_eq!(receipt.chain.receipt_hash.unwrap().bare(), expected);
}

#[tokio::test]
async fn without_that_option_the_published_placeholders_are_refused() {
    let world = World::new().await;
    let refused =
        world.harness.import_task(&asked("boss"), read(&published("export"))).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("receipt.chain.receipt_hash"));
    let mut document = published("export");
    document["receipt"] = Value::Null;
    let task = world.harness.import_task(&asked("boss"), read(&document)).await.unwrap();
    let refused = world.replay(&task.envelope.id, published("request")).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("override.llm:main:1.sha256"));
}

#[tokio::test]
async fn a_session_is_replayed_as_a_fork_with_a_replay_of_each_task() {
    let world = World::new().await;
    let boss = asked("boss");
    let request = json!({"workspace_id": "workspace_default"});
    let request = CreateSessionRequest::parse(request).unwrap();
    let session = world.harness.create_session(&boss, request).await.unwrap().envelope.id;
    let mut tasks = Vec::new();
    for number in 0..3 {
        let body = json!({"persona_id": super::runs::PERSONA, "input": format!("task {number}")});
        let request = SubmitTaskRequest::parse(body, Some(&session)).unwrap();
        let task = world.harness.submit_task(&boss, request).await.unwrap().task.envelope.id;
        world.claim("worker", &task).await;
        world.record(&task, "llm:main:1", json!(number)).await;
        world.complete("worker", &task, json!(number)).await;
        tasks.push(task);
    }
    let request = ReplaySessionRequest::parse(Some(json!({"reason": "audit"}))).unwrap();
    let fork = world.harness.replay_session(&boss, &session, request).await.unwrap();
    assert_eq!(fork.parent_session_id.as_deref(), Some(&*session));
    let scope = EventScope::session(&fork.envelope.id);
    let events = world.harness.events(&caller("boss"), scope, None, 200).await.unwrap().data;
    let told = events.iter().find(|event| event.event.as_str() == "session.replayed").unwrap();
    assert_eq!(told.payload["source_session_id"], json!(session));
    let replays = told.payload["replay_task_ids"].as_array().unwrap();
    assert_eq!(replays.len(), 3);
    for (replay, source) in replays.iter().zip(&tasks) {
        let replay = replay.as_str().unwrap();
        world.harness.run_replay(replay).await.unwrap();
        let replay = world.settled(replay).await;
        assert_eq!(replay.status, TaskState::Completed);
        assert_eq!(replay.parent_task_id.as_ref(), Some(source));
        assert_eq!(replay.session_id, fork.envelope.id);
        assert_eq!(replay.branch_id, fork.branch_id);
    }
    let open = SubmitTaskRequest::parse(
        json!({"persona_id": super::runs::PERSONA, "input": "open"}),
        Some(&session),
    );
    world.harness.submit_task(&boss, open.unwrap()).await.unwrap();
    let request = ReplaySessionRequest::default();
    let refused = world.harness.replay_session(&boss, &session, request).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
}
