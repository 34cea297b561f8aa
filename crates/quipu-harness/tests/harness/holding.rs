//! Bytes that were kept before it was written down which Artifact has them.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_harness::Harness;
use quipu_wire::{
    harn::{HarnErrorCode, Sha256},
    json::base64,
};
use serde_json::{Value, json};

use crate::support::{asked, caller, harness, message, texts};

const BYTES: &[u8] = b"canary-of-before";

/// Puts a document as it was put before.
async fn put(harness: &Harness, agent: &str, kind: DocumentKind, id: &str, says: &Value) {
    let draft = DocumentDraft {
        kind,
        id: id.to_owned(),
        owner: DocumentOwner::default(),
        expect: Expect::New,
        body: Some(harness.field().seal(says).unwrap()),
        quotes: Vec::new(),
    };
    let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
    harness.field().harn(message(&format!("put-{id}"), agent), command).await.unwrap();
}

/// An Artifact for everybody that names the bytes.
async fn naming(harness: &Harness, agent: &str, id: &str, uri: Value) {
    let says = json!({
        "object": "artifact", "id": id, "created_at": "", "updated_at": "", "metadata": {},
        "kind": "file", "mime_type": "text/plain", "uri": uri, "visibility": "public",
        "sha256": Sha256::of(BYTES).bare(), "workspace_id": null, "session_id": null,
        "task_id": null, "receipt_id": null,
    });
    put(harness, agent, DocumentKind::Artifact, id, &says).await;
}

async fn read(harness: &Harness, id: &str) -> Result<Vec<u8>, HarnErrorCode> {
    let read = harness.artifact_content(&caller("eve"), id).await;
    read.map(|content| content.bytes).map_err(|error| error.code)
}

#[tokio::test]
async fn bytes_of_before_are_had_by_who_brought_them_and_not_by_who_named_them() {
    let harness = harness();
    naming(&harness, "alice", "artifact_a", Value::Null).await;
    let kept = base64::encode(BYTES);
    let digest = Sha256::of(BYTES).bare();
    put(&harness, "bob", DocumentKind::Content, &digest, &json!({"base64": kept})).await;
    naming(&harness, "carol", "artifact_c", Value::Null).await;
    naming(&harness, "bob", "artifact_b", Value::Null).await;
    let own = json!("/v1/artifacts/artifact_s/content");
    naming(&harness, "system", "artifact_s", own).await;
    for id in ["artifact_a", "artifact_b", "artifact_s"] {
        assert_eq!(read(&harness, id).await, Ok(BYTES.to_vec()), "{id}");
    }
    assert_eq!(read(&harness, "artifact_c").await, Err(HarnErrorCode::ResourceNotFound));
    // Putting them is written down, and changes nothing for the others.
    let carol = asked("carol");
    harness.put_artifact_content(&carol, "artifact_c", BYTES.to_vec()).await.unwrap();
    for id in ["artifact_a", "artifact_b", "artifact_c", "artifact_s"] {
        assert_eq!(read(&harness, id).await, Ok(BYTES.to_vec()), "{id}");
    }
    for (agent, id, held) in [
        ("alice", "artifact_a", json!(["artifact_c", "artifact_b", "artifact_s"])),
        ("bob", "artifact_b", json!(["artifact_c", "artifact_s"])),
        ("carol", "artifact_c", json!(["artifact_s"])),
    ] {
        let left = harness.redact_artifact(&caller(agent), id).await.unwrap();
        let says = json!({"artifacts": held, "others": false});
        assert_eq!(left.envelope.metadata["content_still_held"], says, "{id}");
        assert_eq!(read(&harness, id).await, Err(HarnErrorCode::ResourceNotFound), "{id}");
    }
    let mut chief = caller("chief");
    chief.authority = 8;
    let left = harness.redact_artifact(&chief, "artifact_s").await.unwrap();
    assert!(!left.envelope.metadata.contains_key("content_still_held"));
    assert!(!texts(&harness).contains(&kept));
}

#[tokio::test]
async fn bytes_that_come_again_are_had_by_who_put_them_again() {
    let harness = harness();
    naming(&harness, "mallory", "artifact_m", Value::Null).await;
    naming(&harness, "alice", "artifact_a", Value::Null).await;
    harness.put_artifact_content(&asked("alice"), "artifact_a", BYTES.to_vec()).await.unwrap();
    assert_eq!(read(&harness, "artifact_m").await, Err(HarnErrorCode::ResourceNotFound));
    harness.redact_artifact(&caller("alice"), "artifact_a").await.unwrap();
    naming(&harness, "alice", "artifact_b", Value::Null).await;
    harness.put_artifact_content(&asked("alice"), "artifact_b", BYTES.to_vec()).await.unwrap();
    assert_eq!(read(&harness, "artifact_b").await, Ok(BYTES.to_vec()));
    assert_eq!(read(&harness, "artifact_m").await, Err(HarnErrorCode::ResourceNotFound));
}
