//! What is gone when a replay comes to it: the first such thing is named, and the replay still has its receipt.

use quipu_core::Message;
use quipu_wire::{
    akashik::{CompactPayload, RecordPayload, RegisterPayload},
    harn::{Determinism, OutcomeStatus, TaskState},
};
use serde_json::json;

use super::runs::{World, caller};

fn message(id: &str, agent: &str) -> Message {
    Message {
        id: id.to_owned(),
        agent: agent.to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    }
}

#[tokio::test]
async fn a_purged_memory_of_the_source_fails_the_replay_and_is_named() {
    let world = World::new().await;
    let field = world.harness.field();
    let role = RegisterPayload::parse(json!({"id": "worker", "role": "pricer"})).unwrap().0;
    field.register(message("r", "worker"), role).await.unwrap();
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let unit = RecordPayload::parse(json!({
        "mode": "committed", "type": "finding", "content": "a canary that will be purged",
        "intent": {"purpose": "to test", "task_id": task},
        "confidence": {"score": 0.9, "reasoning": "seen"}}))
    .unwrap();
    let recorded = field.record(message("u", "worker"), unit.0).await.unwrap();
    let recorded = serde_json::to_value(&recorded).unwrap();
    let unit = recorded["memory_unit_id"].as_str().unwrap().to_owned();
    world.record(&task, "llm:main:1", json!("after it")).await;
    world.complete("worker", &task, json!(1)).await;
    let before = world.replayed(&task, json!({})).await;
    assert_eq!(before.status, TaskState::Completed);
    let purge =
        json!({"strategy": "purge", "filter": {"types": ["finding"]}, "reason": "asked to"});
    let purge = CompactPayload::parse(purge).unwrap().0;
    field.compact(message("p", "boss"), purge).await.unwrap();
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Failed);
    let failure = replay.failure.unwrap();
    assert_eq!(failure.code, "replay_dependency_unavailable");
    let first = &failure.details["first_unavailable"];
    assert_eq!((&first["kind"], &first["id"]), (&json!("memory"), &json!(unit)));
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert_eq!(receipt.replay_input.determinism, Determinism::Unavailable);
    let events = world.events(&replay.envelope.id).await;
    let names: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    assert!(names.contains(&"replay.failed") && !names.contains(&"replay.completed"), "{names:?}");
    let divergence = world.harness.divergence(&caller("boss"), &replay.envelope.id).await.unwrap();
    let first = divergence.first_difference.unwrap();
    assert_eq!(first.source.unwrap().event, "agent.memory_write");
    assert!(first.replay.is_none());
}

#[tokio::test]
async fn an_answer_whose_artifact_has_no_bytes_is_named() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let body = json!({"kind": "dataset", "mime_type": "application/json", "visibility": "public",
        "sha256": "a".repeat(64), "uri": "s3://elsewhere/x"});
    let request = quipu_wire::harn::RegisterArtifactRequest::parse(body).unwrap();
    let asked = super::runs::asked("worker");
    let artifact = world.harness.register_artifact(&asked, request).await.unwrap().envelope.id;
    let body = json!({"key": "host:read:1", "kind": "host_fact", "artifact_id": artifact});
    let request = quipu_wire::harn::RecordDependencyRequest::parse(body).unwrap();
    world.harness.record_dependency(&asked, &task, request).await.unwrap();
    world.complete("worker", &task, json!(1)).await;
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Failed);
    let first = &replay.failure.unwrap().details["first_unavailable"];
    assert_eq!((&first["kind"], &first["id"]), (&json!("artifact"), &json!(artifact)));
    assert_eq!(first["override_key"], "host:read:1");
    let cured = json!({"mode": "with_overrides", "override": {
        "host:read:1": {"kind": "host_fact", "value": {"rows": 3}}}});
    assert_eq!(world.replayed(&task, cured).await.status, TaskState::Completed);
}

#[tokio::test]
async fn an_answer_whose_content_was_taken_away_is_named() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let asked = super::runs::asked("worker");
    let body = json!({"kind": "dataset", "mime_type": "text/plain", "visibility": "public"});
    let request = quipu_wire::harn::RegisterArtifactRequest::parse(body).unwrap();
    let artifact = world.harness.register_artifact(&asked, request).await.unwrap().envelope.id;
    world.harness.put_artifact_content(&asked, &artifact, b"rows".to_vec()).await.unwrap();
    let body = json!({"key": "host:read:1", "kind": "host_fact", "artifact_id": artifact});
    let request = quipu_wire::harn::RecordDependencyRequest::parse(body).unwrap();
    world.harness.record_dependency(&asked, &task, request).await.unwrap();
    world.complete("worker", &task, json!(1)).await;
    assert_eq!(world.replayed(&task, json!({})).await.status, TaskState::Completed);
    world.harness.redact_artifact(&caller("worker"), &artifact).await.unwrap();
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Failed);
    let first = &replay.failure.unwrap().details["first_unavailable"];
    assert_eq!((&first["kind"], &first["id"]), (&json!("artifact"), &json!(artifact)));
    assert_eq!(first["reason"], "its content was taken away");
}

#[tokio::test]
async fn the_receipt_of_a_replay_is_checked_against_its_sources() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = world.replayed(&task, json!({})).await;
    let receipt = world.receipt(&replay.envelope.id).await;
    let check = async || {
        let request = quipu_wire::harn::VerifyReceiptRequest::default();
        world.harness.verify_receipt(&caller("boss"), &receipt.receipt_id, request).await.unwrap()
    };
    let holds = check().await;
    assert!(holds.valid, "{:?}", holds.reason);
    let mut forged = receipt.clone();
    forged.chain.previous_receipt_hash = Some(quipu_wire::harn::Sha256::of(b"another"));
    let field = world.harness.field();
    let draft = quipu_core::rules::harn::DocumentDraft {
        kind: quipu_core::DocumentKind::Receipt,
        id: forged.receipt_id.clone(),
        owner: quipu_core::DocumentOwner::default(),
        expect: quipu_core::rules::harn::Expect::Known,
        body: Some(field.seal(&forged).unwrap()),
        quotes: Vec::new(),
    };
    let command = quipu_core::rules::harn::HarnCommand {
        documents: vec![draft],
        ..quipu_core::rules::harn::HarnCommand::default()
    };
    field.harn(message("forged", "boss"), command).await.unwrap();
    let broken = serde_json::to_value(check().await).unwrap();
    let findings = broken["details"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|each| each["name"] == "previous_receipt_hash"), "{findings:?}");
}

#[tokio::test]
async fn what_is_erased_afterwards_leaves_a_finished_replay_as_it_was() {
    let world = World::new().await;
    let field = world.harness.field();
    let role = RegisterPayload::parse(json!({"id": "worker", "role": "pricer"})).unwrap().0;
    field.register(message("r", "worker"), role).await.unwrap();
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let unit = json!({"mode": "committed", "type": "finding", "content": "a canary",
        "intent": {"purpose": "to test", "task_id": task},
        "confidence": {"score": 0.9, "reasoning": "seen"}});
    field.record(message("u", "worker"), RecordPayload::parse(unit).unwrap().0).await.unwrap();
    let asked = super::runs::asked("worker");
    let body = json!({"kind": "dataset", "mime_type": "text/plain", "visibility": "public"});
    let request = quipu_wire::harn::RegisterArtifactRequest::parse(body).unwrap();
    let artifact = world.harness.register_artifact(&asked, request).await.unwrap().envelope.id;
    world.harness.put_artifact_content(&asked, &artifact, b"rows".to_vec()).await.unwrap();
    let body = json!({"key": "host:read:1", "kind": "host_fact", "artifact_id": artifact});
    let request = quipu_wire::harn::RecordDependencyRequest::parse(body).unwrap();
    world.harness.record_dependency(&asked, &task, request).await.unwrap();
    world.record(&task, "llm:main:1", json!("after it")).await;
    world.complete("worker", &task, json!(1)).await;
    let overrides = json!({"mode": "with_overrides", "override": {
        "llm:main:1": {"kind": "llm_provider_response", "value": "other", "reason": "what if"}}});
    let replay = world.replayed(&task, overrides).await.envelope.id;
    let again = world.replayed(&replay, json!({})).await.envelope.id;
    let facts = async || {
        let mut facts = Vec::new();
        for id in [&replay, &again] {
            let events = world.events(id).await;
            let told = events.iter().map(|it| (it.envelope.id.clone(), it.event.to_string()));
            let told: Vec<_> = told.collect();
            facts.push((told, world.harness.divergence(&caller("boss"), id).await.unwrap()));
        }
        facts
    };
    let before = facts().await;
    let purge = json!({"strategy": "purge", "filter": {"types": ["finding"]}, "reason": "asked"});
    let purge = CompactPayload::parse(purge).unwrap().0;
    field.compact(message("p", "boss"), purge).await.unwrap();
    world.harness.redact_artifact(&caller("boss"), &artifact).await.unwrap();
    assert_eq!(facts().await, before);
    let later = world.replayed(&task, json!({})).await;
    assert_eq!(later.status, TaskState::Failed, "one that begins now does not find it");
}
