//! Artifacts and their content.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_harness::{ArtifactFilter, Caller, EventScope, Harness, Page, WriteRequest};
use quipu_wire::harn::{
    Artifact, ClaimTaskRequest, CompleteTaskRequest, HarnErrorCode, RecordCheckpointRequest,
    RecordDependencyRequest, RegisterArtifactRequest, ResourceKind, Sha256,
};
use serde_json::{Value, json};

use crate::support::{
    asked, caller, claim, complete, engine, harness, message, open, persona, submit, texts,
};

async fn artifact(harness: &Harness, body: Value) -> Artifact {
    let request = RegisterArtifactRequest::parse(body).unwrap();
    harness.register_artifact(&asked("alice"), request).await.unwrap()
}

fn body(visibility: &str, sha256: Option<&[u8]>) -> Value {
    let digest = sha256.map(|bytes| Sha256::of(bytes).bare());
    json!({"kind": "log", "mime_type": "text/plain", "visibility": visibility, "sha256": digest})
}

#[tokio::test]
async fn content_must_have_the_registered_digest_and_is_kept_once() {
    let harness = harness();
    let one = artifact(&harness, body("public", Some(b"abc"))).await;
    let other = artifact(&harness, body("public", None)).await;
    let put = async |id: &str, bytes: &[u8]| {
        harness.put_artifact_content(&asked("alice"), id, bytes.to_vec()).await
    };
    let refused = put(&one.envelope.id, b"abd").await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
    let none = harness.artifact_content(&caller("alice"), &one.envelope.id).await.unwrap_err();
    assert_eq!(none.code, HarnErrorCode::ResourceNotFound);
    put(&one.envelope.id, b"abc").await.unwrap();
    let before = harness.field().head().position;
    put(&one.envelope.id, b"abc").await.unwrap();
    assert_eq!(harness.field().head().position, before, "the same again writes nothing");
    let named = put(&other.envelope.id, b"abc").await.unwrap();
    assert_eq!(named.sha256, Some(Sha256::of(b"abc").bare()));
    let read = harness.artifact_content(&caller("bob"), &other.envelope.id).await.unwrap();
    assert_eq!(read.bytes, b"abc");
    let huge = vec![0; harness.options().content_bytes_max + 1];
    let refused = put(&other.envelope.id, &huge).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PayloadTooLarge);
}

#[tokio::test]
async fn content_is_shown_to_whom_its_visibility_allows() {
    let harness = harness();
    for (visibility, operator) in [("internal", true), ("receipt_only", false)] {
        let made = artifact(&harness, body(visibility, None)).await;
        let id = made.envelope.id;
        harness.put_artifact_content(&asked("alice"), &id, b"canary".to_vec()).await.unwrap();
        let refused = harness.artifact_content(&caller("bob"), &id).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
        let mut high = caller("carol");
        high.authority = 8;
        assert_eq!(harness.artifact_content(&high, &id).await.is_ok(), operator);
    }
}

#[tokio::test]
async fn nothing_is_added_to_what_a_task_made_once_it_has_ended() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    claim(&harness, &task).await;
    let mut of_task = body("public", None);
    of_task["task_id"] = json!(task);
    let made = artifact(&harness, of_task.clone()).await;
    assert_eq!(made.session_id.as_deref(), Some("session_default"));
    complete(&harness, &task).await;
    let request = RegisterArtifactRequest::parse(of_task).unwrap();
    let refused = harness.register_artifact(&asked("alice"), request).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.param.as_deref()),
        (HarnErrorCode::Conflict, Some("task_id"))
    );
    let late =
        harness.put_artifact_content(&asked("alice"), &made.envelope.id, b"x".to_vec()).await;
    assert_eq!(late.unwrap_err().code, HarnErrorCode::Conflict);
    let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
    let page = Page::first(ResourceKind::Artifact);
    let listed = harness.artifacts(&caller("alice"), page, filter).await.unwrap();
    let kinds: Vec<_> = listed.data.iter().map(|each| each.mime_type.as_str()).collect();
    assert_eq!(kinds, ["text/plain", "application/json", "application/jsonl"]);
    assert!(listed.data.iter().all(|each| each.receipt_id.is_some()));
}

#[tokio::test]
async fn what_an_artifact_names_must_be_there_and_agree() {
    let harness = harness();
    for (member, value) in
        [("task_id", "task_none"), ("session_id", "session_none"), ("workspace_id", "workspace_x")]
    {
        let mut body = body("public", None);
        body[member] = json!(value);
        let request = RegisterArtifactRequest::parse(body).unwrap();
        let refused = harness.register_artifact(&asked("alice"), request).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::ResourceNotFound, "{member}");
        assert_eq!(refused.param.as_deref(), Some(member));
    }
    let mut body = body("public", None);
    body["metadata"] = json!({"event_log_until": 1});
    let made = artifact(&harness, body).await;
    assert!(made.envelope.metadata.is_empty(), "nobody makes an event log of their own");
}

#[tokio::test]
async fn content_that_is_taken_away_leaves_a_descriptor_and_no_bytes() {
    let harness = harness();
    let id = artifact(&harness, body("public", None)).await.envelope.id;
    let bytes = b"canary-content".to_vec();
    let kept = quipu_wire::json::base64::encode(&bytes);
    harness.put_artifact_content(&asked("alice"), &id, bytes.clone()).await.unwrap();
    assert!(texts(&harness).contains(&kept));
    let stranger = harness.redact_artifact(&caller("bob"), &id).await.unwrap_err();
    assert_eq!(stranger.code, HarnErrorCode::PermissionDenied);
    for _ in 0..2 {
        let left = harness.redact_artifact(&caller("alice"), &id).await.unwrap();
        assert_eq!(left.envelope.metadata["content_redacted"], json!({"by": "alice"}));
        assert_eq!(left.sha256, Some(Sha256::of(&bytes).bare()), "what it was can be proven");
    }
    assert!(!texts(&harness).contains(&kept));
    let read = harness.artifact_content(&caller("alice"), &id).await.unwrap_err();
    assert_eq!(read.code, HarnErrorCode::ResourceNotFound);
    let again = harness.put_artifact_content(&asked("alice"), &id, bytes.clone()).await;
    assert_eq!(again.unwrap_err().code, HarnErrorCode::Conflict);
    let told = harness.events(&caller("alice"), EventScope::default(), None, 200).await.unwrap();
    let kinds: Vec<_> = told.data.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(kinds, ["artifact.created", "artifact.updated", "artifact.redacted"]);
    let other = artifact(&harness, body("public", None)).await.envelope.id;
    harness.put_artifact_content(&asked("alice"), &other, bytes.clone()).await.unwrap();
    let read = harness.artifact_content(&caller("alice"), &other).await.unwrap();
    assert_eq!(read.bytes, bytes, "the same bytes may come again");
}

#[tokio::test]
async fn content_that_others_have_too_stays_until_the_last_of_them_is_taken_away() {
    let harness = harness();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = artifact(&harness, body("public", None)).await.envelope.id;
        harness
            .put_artifact_content(&asked("alice"), &id, b"shared-canary".to_vec())
            .await
            .unwrap();
        ids.push(id);
    }
    let kept = quipu_wire::json::base64::encode(b"shared-canary");
    harness.redact_artifact(&caller("alice"), &ids[0]).await.unwrap();
    assert!(harness.artifact_content(&caller("alice"), &ids[0]).await.is_err());
    let read = harness.artifact_content(&caller("alice"), &ids[1]).await.unwrap();
    assert_eq!(read.bytes, b"shared-canary");
    harness.redact_artifact(&caller("alice"), &ids[1]).await.unwrap();
    assert!(!texts(&harness).contains(&kept));
}

#[tokio::test]
async fn the_stream_of_a_task_that_ended_is_not_told_that_its_content_was_taken_away() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    claim(&harness, &task).await;
    let request = RecordCheckpointRequest::parse(json!({"label": "a", "state": "canary"})).unwrap();
    let snapshots = [
        harness.record_checkpoint(&asked("bob"), &task, request.clone()).await.unwrap(),
        harness.record_checkpoint(&asked("bob"), &task, request).await.unwrap(),
    ];
    complete(&harness, &task).await;
    let scope = || EventScope::task(&task);
    let before = harness.events(&caller("alice"), scope(), None, 200).await.unwrap();
    for snapshot in &snapshots {
        harness.redact_artifact(&caller("bob"), &snapshot.envelope.id).await.unwrap();
    }
    let after = harness.events(&caller("alice"), scope(), None, 200).await.unwrap();
    assert_eq!(before, after);
    let kept = quipu_wire::json::base64::encode(b"\"canary\"");
    assert!(!texts(&harness).contains(&kept), "also where it was written twice");
}

#[tokio::test]
async fn there_is_nothing_to_take_away_where_nothing_is_kept() {
    let harness = harness();
    let none = harness.redact_artifact(&caller("alice"), "artifact_none").await.unwrap_err();
    assert_eq!(none.code, HarnErrorCode::ResourceNotFound);
    let empty = artifact(&harness, body("public", Some(b"elsewhere"))).await.envelope.id;
    let none = harness.redact_artifact(&caller("alice"), &empty).await.unwrap_err();
    assert_eq!(none.code, HarnErrorCode::ResourceNotFound);
    let mut marked = body("public", None);
    marked["metadata"] = json!({"content_redacted": {"by": "god"}});
    assert!(artifact(&harness, marked).await.envelope.metadata.is_empty());
}

#[tokio::test]
async fn an_erasure_that_a_crash_interrupted_is_finished_when_the_field_is_opened() {
    let engine = engine();
    let first = open(&engine);
    let id = artifact(&first, body("public", None)).await.envelope.id;
    first.put_artifact_content(&asked("alice"), &id, b"canary-content".to_vec()).await.unwrap();
    let removal = DocumentDraft {
        kind: DocumentKind::Content,
        id: Sha256::of(b"canary-content").bare(),
        owner: DocumentOwner::default(),
        expect: Expect::Removal,
        body: None,
        quotes: Vec::new(),
    };
    let command = HarnCommand { documents: vec![removal], ..HarnCommand::default() };
    first.field().harn(message("removal", "alice"), command).await.unwrap();
    let kept = quipu_wire::json::base64::encode(b"canary-content");
    assert!(texts(&first).contains(&kept), "removed, and not yet erased");
    first.field().close().await;
    drop(first);
    assert!(!texts(&open(&engine)).contains(&kept));
}

#[tokio::test]
async fn an_artifact_inside_of_an_outcome_has_the_times_of_the_artifact() {
    let harness = harness();
    crate::support::register(&harness, "alice").await;
    tokio::spawn(harness.clone().run_field_tasks());
    let id = submit(&harness, json!({"input": "anything?"})).await;
    let task = crate::field_tasks::settled(&harness, &id).await;
    let (alice, page) = (caller("alice"), Page::first(ResourceKind::Outcome));
    let told = harness.outcome(&alice, task.outcome_id.as_ref().unwrap()).await.unwrap();
    let listed = harness.outcomes(&alice, page, Some(&id)).await.unwrap().data;
    let own = harness.artifact(&alice, &told.artifacts[0].envelope.id).await.unwrap().envelope;
    assert!(own.created_at.ends_with('Z'), "{own:?}");
    for outcome in listed.iter().chain([&told]) {
        let inside = &outcome.artifacts[0].envelope;
        assert_eq!((&inside.created_at, &inside.updated_at), (&own.created_at, &own.updated_at));
    }
}

const TOLD: &str = "canary-of-the-metadata";

/// An Artifact of alice's that tells its reader something beside its content.
async fn telling(harness: &Harness, visibility: &str) -> String {
    let mut body = body(visibility, Some(b"canary"));
    body["uri"] = json!(format!("https://example.com/{TOLD}"));
    body["metadata"] = json!({"note": TOLD});
    artifact(harness, body).await.envelope.id
}

/// A Task of this worker's that came to these Artifacts; everything that a reader is told of it, as one text.
async fn ended_with(
    harness: &Harness,
    (worker, reader): (&Caller, &Caller),
    artifacts: &[&str],
) -> String {
    let persona = persona(harness, "required").await;
    let task = submit(harness, json!({"input": "count", "persona_id": persona})).await;
    let asked = WriteRequest { caller: worker.clone(), ..asked(&worker.agent) };
    let request = ClaimTaskRequest::parse(None).unwrap();
    harness.claim_task(&asked, &task, &request).await.unwrap();
    let request = json!({"summary": "done", "artifacts": artifacts});
    let request = CompleteTaskRequest::parse(request).unwrap();
    let ended = harness.complete_task(&asked, &task, request).await.unwrap();
    harness.settle_all().await.unwrap();
    let id = ended.outcome_id.unwrap_or_else(|| task.replacen("task_", "outcome_", 1));
    let page = Page::first(ResourceKind::Outcome);
    let outcomes = harness.outcomes(reader, page, Some(&task)).await.unwrap().data;
    let page = Page::first(ResourceKind::Receipt);
    let receipts = harness.task_receipts(reader, &task, page).await.unwrap().data;
    json!([harness.outcome(reader, &id).await.unwrap(), outcomes, receipts]).to_string()
}

#[tokio::test]
async fn an_outcome_shows_no_more_of_an_artifact_than_the_artifact_does() {
    let harness = harness();
    let (alice, bob) = (caller("alice"), caller("bob"));
    let high = Caller::new("carol", 8);
    let internal = telling(&harness, "internal").await;
    let receipt_only = telling(&harness, "receipt_only").await;
    let both = [internal.as_str(), receipt_only.as_str()];
    let told = ended_with(&harness, (&alice, &bob), &both).await;
    assert!(told.contains(&internal) && told.contains(&receipt_only), "{told}");
    assert!(!told.contains(TOLD), "{told}");
    let told = ended_with(&harness, (&alice, &high), &both[..1]).await;
    assert!(told.contains(TOLD), "authority 8 sees what is internal: {told}");
}

#[tokio::test]
async fn nobody_is_told_of_an_artifact_by_naming_it_in_a_task_of_ones_own() {
    let harness = harness();
    let internal = telling(&harness, "internal").await;
    let digest = Sha256::of(b"canary").bare();
    let bob = caller("bob");
    let told = ended_with(&harness, (&bob, &bob), &[&internal]).await;
    assert!(told.contains(&internal) && !told.contains(TOLD) && !told.contains(&digest), "{told}");
    // Nor does whoever may see it tell others.
    let high = Caller::new("carol", 8);
    let told = ended_with(&harness, (&high, &bob), &[&internal]).await;
    assert!(!told.contains(TOLD), "{told}");
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    claim(&harness, &task).await;
    let answer = json!({"key": "host:a:1", "kind": "host_fact", "artifact_id": internal});
    let request = RecordDependencyRequest::parse(answer).unwrap();
    let refused = harness.record_dependency(&asked("bob"), &task, request).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::InvalidRequest);
}
