//! What repeats Memories: shown to who may see those, and readable without them once they are purged.

use quipu_core::Message;
use quipu_harness::{ArtifactFilter, Caller, Harness, Page, TaskFilter};
use quipu_wire::{
    akashik::{RecordPayload, SessionPayload},
    harn::{HarnErrorCode, HarnTask, ResourceKind, TaskState},
};
use serde_json::{Value, json};

use crate::{
    field_tasks::settled,
    support::{asked, caller, compact, harness, message, register, submit_in},
};

const SESSION: &str = "plans";
const SECRET: &str = "the harbour will be sold in May";

async fn act(harness: &Harness, id: &str, agent: &str, payload: Value) {
    let (payload, _) = SessionPayload::parse(payload).unwrap();
    harness.field().session(message(id, agent), payload).await.unwrap();
}

/// An open Session of alice's that carol is a member of and bob is not, with a Memory and a Task whose answer
/// repeats it.
async fn answered(policy: Value) -> (Harness, HarnTask) {
    let harness = harness();
    for agent in ["alice", "bob", "carol"] {
        register(&harness, agent).await;
    }
    let session = json!({"goal": "g", "policy": policy});
    let create = json!({"action": "create", "session_id": SESSION, "session": session});
    act(&harness, "s-1", "alice", create).await;
    act(&harness, "s-2", "carol", json!({"action": "join", "session_id": SESSION})).await;
    let unit = json!({"type": "decision", "content": SECRET, "intent": {"purpose": "to test"},
        "confidence": {"score": 0.9, "reasoning": "seen"}});
    let (unit, _) = RecordPayload::parse(unit).unwrap();
    let inside = Message { session: Some(SESSION.to_owned()), ..message("r-1", "alice") };
    harness.field().record(inside, unit).await.unwrap();
    tokio::spawn(harness.clone().run_field_tasks());
    let id = submit_in(&harness, "alice", SESSION, json!({"input": "the harbour?"})).await;
    let task = settled(&harness, &id).await;
    assert_eq!(task.status, TaskState::Completed);
    (harness, task)
}

fn first(kind: ResourceKind) -> Page {
    Page::first(kind)
}

/// Everything that can be read of a Task without its content, as one text.
async fn read(harness: &Harness, caller: &Caller, task: &HarnTask) -> String {
    let outcome = task.outcome_id.as_ref().unwrap();
    let said = harness.messages(caller, SESSION, first(ResourceKind::Message)).await.unwrap();
    let filter = TaskFilter::default();
    let tasks = harness.tasks(caller, first(ResourceKind::Task), filter).await.unwrap();
    let outcomes = harness.outcomes(caller, first(ResourceKind::Outcome), None).await.unwrap();
    let mut told = vec![
        json!(harness.outcome(caller, outcome).await.unwrap()),
        json!(outcomes.data),
        json!(harness.task(caller, &task.envelope.id).await.unwrap()),
        json!(tasks.data),
        json!(said.data),
    ];
    for each in &said.data {
        told.push(json!(harness.message(caller, &each.envelope.id).await.unwrap()));
    }
    json!(told).to_string()
}

async fn dataset(harness: &Harness, caller: &Caller) -> Result<String, HarnErrorCode> {
    let list =
        harness.artifacts(caller, first(ResourceKind::Artifact), ArtifactFilter::default()).await;
    let list = list.unwrap().data;
    let found = list.iter().find(|each| json!(each)["kind"] == "dataset").unwrap();
    let content = harness.artifact_content(caller, &found.envelope.id).await;
    let content = content.map_err(|error| error.code)?;
    Ok(String::from_utf8(content.bytes).unwrap())
}

#[tokio::test]
async fn what_repeated_a_purged_memory_stays_readable_without_it() {
    let (harness, task) = answered(json!({"join": "open"})).await;
    let alice = caller("alice");
    assert!(read(&harness, &alice, &task).await.contains(SECRET));
    let purge = json!({"strategy": "purge", "filter": {"session_id": SESSION}, "reason": "asked"});
    compact(&harness, "p-1", purge).await;
    let told = read(&harness, &alice, &task).await;
    assert!(!told.contains(SECRET), "{told}");
    assert!(told.contains(r#""redacted":"erased""#), "{told}");
    let outcome = harness.outcome(&alice, task.outcome_id.as_ref().unwrap()).await.unwrap();
    assert_eq!(json!(outcome.status), "SUCCEEDED");
    assert_eq!((outcome.task_id, outcome.receipt_id), (task.envelope.id.clone(), task.receipt_id));
    let operator = Caller { authority: 10, ..alice };
    let export = harness.export_task(&operator, &task.envelope.id).await.unwrap();
    assert_eq!(export.task.status, TaskState::Completed);
    assert_eq!(dataset(&harness, &operator).await, Err(HarnErrorCode::ResourceNotFound));
}

#[tokio::test]
async fn a_fork_of_a_session_with_purged_words_is_readable() {
    let (harness, _) = answered(json!({"join": "open"})).await;
    let purge = json!({"strategy": "purge", "filter": {"session_id": SESSION}, "reason": "asked"});
    let request = quipu_wire::harn::ForkSessionRequest::parse(None).unwrap();
    let fork = harness.fork_session(&asked("alice"), SESSION, request).await.unwrap();
    compact(&harness, "p-1", purge).await;
    let page = first(ResourceKind::Message);
    let said = harness.messages(&caller("alice"), &fork.envelope.id, page).await.unwrap();
    let last = json!(said.data.last().unwrap());
    assert_eq!(last["parts"][0]["value"], json!({"redacted": "erased"}), "{last}");
}

#[tokio::test]
async fn who_is_no_member_reads_nothing_of_what_members_remember() {
    let (harness, task) = answered(json!({"join": "open"})).await;
    let (carol, bob) = (caller("carol"), caller("bob"));
    assert!(read(&harness, &carol, &task).await.contains(SECRET));
    assert!(dataset(&harness, &carol).await.unwrap().contains(SECRET));
    let transcript = harness.messages(&bob, SESSION, first(ResourceKind::Message)).await;
    assert_eq!(transcript.unwrap_err().code, HarnErrorCode::PermissionDenied);
    let artifacts =
        harness.artifacts(&bob, first(ResourceKind::Artifact), ArtifactFilter::default());
    assert_eq!(artifacts.await.unwrap().data, []);
    let outcome = harness.outcome(&bob, task.outcome_id.as_ref().unwrap()).await;
    assert_eq!(outcome.unwrap_err().code, HarnErrorCode::ResourceNotFound);
    let exporter = Caller { authority: 8, ..bob };
    let export = harness.export_task(&exporter, &task.envelope.id).await;
    assert_eq!(export.unwrap_err().code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn a_member_reads_no_type_that_the_session_keeps_from_it() {
    let rules = json!([{"below_authority": 6, "deny_types": ["decision"]}]);
    let (harness, task) = answered(json!({"join": "open", "visibility_rules": rules})).await;
    let low = Caller::new("carol", 5);
    let told = read(&harness, &low, &task).await;
    assert!(!told.contains(SECRET), "{told}");
    assert_eq!(dataset(&harness, &low).await, Err(HarnErrorCode::PermissionDenied));
    let operator = Caller::new("alice", 10);
    assert!(read(&harness, &operator, &task).await.contains(SECRET));
}
