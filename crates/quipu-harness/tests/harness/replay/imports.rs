//! What comes from elsewhere takes nothing that is to be here, says how much of it is proven, and goes on from server to
//! server.

use quipu_core::DocumentKind;
use quipu_replay::receipt::{Proven, check_export, seal};
use quipu_wire::harn::{HarnErrorCode, RecordDependencyRequest, Sha256, TaskExport, TaskState};
use serde_json::{Value, json};

use super::runs::{World, asked, caller};
use crate::{
    modules::pricing::asked_with,
    support::{coordinate, register},
};

async fn exported(world: &World, task: &str) -> TaskExport {
    world.harness.export_task(&caller("boss"), task).await.unwrap()
}

/// The export as a server of an older version wrote it: with a receipt that binds the answers that it lists alone.
fn of_older_form(mut export: TaskExport) -> TaskExport {
    let mut receipt = export.receipt.unwrap();
    receipt.replay_input.materials[0].metadata = None;
    receipt.signatures.clear();
    export.receipt = Some(seal(receipt).unwrap());
    export
}

#[tokio::test]
async fn a_task_ends_although_something_was_brought_under_the_ids_of_its_end() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = there.run().await;
    let mut export = of_older_form(exported(&there, &task).await);
    let mut receipt = export.receipt.take().unwrap();
    receipt.receipt_id = "receipt_t-1".to_owned();
    export.receipt = Some(seal(receipt).unwrap());
    export.task.receipt_id = Some("receipt_t-1".to_owned());
    here.harness.import_task(&asked("boss"), export).await.unwrap();
    let (other, _) = there.run().await;
    let mut export = of_older_form(exported(&there, &other).await);
    export.artifacts[0].artifact.envelope.id = "artifact_event_log_t-1_2".to_owned();
    here.harness.import_task(&asked("boss"), export).await.unwrap();
    register(&here.harness, "ann").await;
    let new = json!({"id": "t-1", "title": "count", "intent": {"purpose": "to know"}});
    coordinate(&here.harness, "m1", "ann", json!({"action": "create", "task": new})).await;
    let cancel = json!({"action": "cancel", "task_id": "t-1"});
    coordinate(&here.harness, "m2", "ann", cancel).await;
    let ended = here.settled("t-1").await;
    assert_eq!(ended.status, TaskState::Canceled);
    assert_eq!(ended.receipt_id.as_deref(), Some("receipt_t-1_3"));
}

#[tokio::test]
async fn who_did_not_record_an_answer_cannot_guess_it() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = there.run().await;
    here.harness.import_task(&asked("boss"), exported(&there, &task).await).await.unwrap();
    let answer = async |world: &World, agent: &str, authority: u8, value: Value| {
        let body = json!({"key": "mcp:crm:1", "kind": "mcp_tool_return", "value": value,
            "request": {"ask": "mcp:crm:1"}});
        let request = RecordDependencyRequest::parse(body).unwrap();
        let write = asked_with(agent, authority);
        world.harness.record_dependency(&write, &task, request).await
    };
    let (right, wrong) = (json!({"tier": "gold"}), json!({"tier": "tin"}));
    for world in [&here, &there] {
        let told = [
            answer(world, "eve", 4, right.clone()).await.unwrap_err(),
            answer(world, "eve", 4, wrong.clone()).await.unwrap_err(),
        ];
        assert_eq!(told[0], told[1], "the right answer and a wrong one are told alike");
        assert_eq!(told[0].code, HarnErrorCode::Conflict);
        assert!(answer(world, "auditor", 8, right.clone()).await.unwrap().again);
    }
    assert!(answer(&there, "worker", 4, right).await.unwrap().again, "who recorded it repeats it");
    assert_eq!(answer(&there, "worker", 4, wrong).await.unwrap_err().code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn what_was_brought_goes_on_to_a_third_server_as_it_was() {
    let (one, two, three) = (World::new().await, World::new().await, World::new().await);
    let (task, _) = one.run().await;
    let first = exported(&one, &task).await;
    two.harness.import_task(&asked("boss"), first.clone()).await.unwrap();
    let second = exported(&two, &task).await;
    assert_eq!(check_export(&second), Ok(Proven::Everything));
    assert_eq!(second.task, first.task);
    let brought = three.harness.import_task(&asked("carol"), second).await.unwrap();
    assert_eq!(brought.envelope.metadata["import"], json!({"proven": "everything"}));
}

#[tokio::test]
async fn how_much_is_proven_is_said_and_kept() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = there.run().await;
    let older = of_older_form(exported(&there, &task).await);
    let mut altered = older.clone();
    let answered = altered.events.iter_mut().find_map(|event| event.dependency.as_mut());
    let answered = answered.unwrap();
    assert_ne!(answered.key, "llm:main:1", "times are not listed in a receipt");
    let listed = altered.events.iter_mut().filter_map(|event| event.dependency.as_mut());
    for answer in listed.filter(|answer| answer.key == "llm:main:1") {
        answer.value = Some(json!({"content": "1,000,000 dollars"}));
        answer.sha256 = Sha256::of_json(answer.value.as_ref().unwrap()).ok();
    }
    let refused = here.harness.import_task(&asked("boss"), altered).await.unwrap_err();
    let param = refused.param.unwrap();
    assert!(param.ends_with("dependency.sha256"), "{param}");
    let brought = here.harness.import_task(&asked("boss"), older).await.unwrap();
    assert_eq!(brought.envelope.metadata["import"], json!({"proven": "older_receipt"}));
    let replay = here.replayed(&task, json!({})).await.envelope.id;
    let receipt = here.receipt(&replay).await;
    assert_eq!(receipt.metadata["source_unproven"], json!(true));
    let (bare, _) = there.run().await;
    let mut export = exported(&there, &bare).await;
    (export.receipt, export.task.receipt_id) = (None, None);
    export.artifacts.retain(|it| !it.artifact.envelope.id.contains("event_log"));
    let brought = here.harness.import_task(&asked("boss"), export).await.unwrap();
    assert_eq!(brought.envelope.metadata["import"], json!({"proven": "no_receipt"}));
    // This server vouches for what it was given, and says that it did not see it.
    assert_eq!(here.receipt(&bare).await.metadata["imported"], json!(true));
}

#[tokio::test]
async fn what_nobody_signed_is_whole_at_most_and_its_replays_say_so() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, _) = there.run().await;
    let mut export = exported(&there, &task).await;
    // Whoever alters a document can seal it again, but not sign it.
    let mut receipt = export.receipt.take().unwrap();
    receipt.signatures.clear();
    export.receipt = Some(seal(receipt).unwrap());
    assert_eq!(check_export(&export), Ok(Proven::Unsigned));
    let brought = here.harness.import_task(&asked("boss"), export).await.unwrap();
    assert_eq!(brought.envelope.metadata["import"], json!({"proven": "unsigned"}));
    let replay = here.replayed(&task, json!({})).await.envelope.id;
    assert_eq!(here.receipt(&replay).await.metadata["source_unproven"], json!(true));
    let (signed, _) = there.run().await;
    here.harness.import_task(&asked("boss"), exported(&there, &signed).await).await.unwrap();
    let replay = here.replayed(&signed, json!({})).await.envelope.id;
    assert!(!here.receipt(&replay).await.metadata.contains_key("source_unproven"));
}

#[tokio::test]
async fn an_export_and_the_receipt_of_another_task_do_not_go_together() {
    let (here, there) = (World::new().await, World::new().await);
    let ((task, _), (other, _)) = (there.run().await, there.run().await);
    let mut export = exported(&there, &task).await;
    let foreign = exported(&there, &other).await;
    export.receipt = foreign.receipt.clone();
    let refused = here.harness.import_task(&asked("boss"), export.clone()).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("task.id"));
    export.artifacts = foreign.artifacts;
    let refused = here.harness.import_task(&asked("boss"), export).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("task.id"));
}

#[tokio::test]
async fn what_was_told_or_taken_away_after_the_end_does_not_keep_a_task_here() {
    let (here, there) = (World::new().await, World::new().await);
    let (task, checkpoint) = there.run().await;
    there.harness.redact_artifact(&caller("boss"), &checkpoint).await.unwrap();
    let export = exported(&there, &task).await;
    assert_eq!(export.events.last().unwrap().event.as_str(), "task.completed");
    here.harness.import_task(&asked("boss"), export).await.unwrap();
    let kept = here
        .harness
        .field()
        .with_state(|state| state.documents.get(DocumentKind::Artifact, &checkpoint).is_some());
    assert!(kept, "its descriptor comes along");
}
