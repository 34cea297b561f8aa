//! Files of a Workspace through the harness: what stays of them in the log, across restarts, and where two write at once.

use quipu_harness::{Caller, FileView, Harness, WriteRequest};
use quipu_wire::harn::{
    FileOrListing, FilePath, HarnError, HarnErrorCode, Sha256, WorkspaceFile, WriteFileRequest,
};
use serde_json::json;

use crate::support::{asked, caller, engine, harness, open, texts};

const WORKSPACE: &str = "workspace_default";

fn at(path: &str) -> FilePath {
    FilePath::read(path).unwrap()
}

async fn write(
    harness: &Harness,
    asked: &WriteRequest,
    path: &str,
    content: &str,
) -> Result<WorkspaceFile, HarnError> {
    let request = WriteFileRequest::parse(json!({"content": content})).unwrap();
    harness.write_workspace_file(asked, WORKSPACE, &at(path), request).await
}

async fn content(harness: &Harness, path: &str) -> Result<String, HarnErrorCode> {
    let view = FileView::default();
    let read = harness.read_workspace_file(&caller("eve"), WORKSPACE, &at(path), view).await;
    match read.map_err(|error| error.code)? {
        FileOrListing::File(file) => Ok(file.content.unwrap()),
        FileOrListing::Listing(listing) => panic!("a listing: {listing:?}"),
    }
}

fn with_authority(agent: &str, authority: u8) -> WriteRequest {
    WriteRequest { caller: Caller::new(agent, authority), key: None, digest: Sha256::of(b"") }
}

#[tokio::test]
async fn a_file_that_was_erased_is_in_no_text_of_the_log() {
    let harness = harness();
    for canary in ["canary-one", "canary-two"] {
        write(&harness, &asked("alice"), "cv.txt", canary).await.unwrap();
    }
    assert!(texts(&harness).contains(&quipu_wire::json::base64::encode(b"canary-one")));
    harness.erase_workspace_file(&asked("alice"), WORKSPACE, &at("cv.txt")).await.unwrap();
    let left = texts(&harness);
    for canary in ["canary-one", "canary-two"] {
        assert!(!left.contains(&quipu_wire::json::base64::encode(canary.as_bytes())));
    }
    assert_eq!(content(&harness, "cv.txt").await, Err(HarnErrorCode::ResourceNotFound));
}

#[tokio::test]
async fn an_erasure_that_was_cut_short_goes_on_and_bytes_that_others_have_stay() {
    let harness = harness();
    let first = write(&harness, &asked("alice"), "a", "shared").await.unwrap();
    write(&harness, &asked("alice"), "a", "own").await.unwrap();
    write(&harness, &asked("bob"), "b", "shared").await.unwrap();
    // As if the server had died behind the first version.
    harness.redact_artifact(&caller("alice"), &first.artifact_id).await.unwrap();
    harness.erase_workspace_file(&asked("alice"), WORKSPACE, &at("a")).await.unwrap();
    assert_eq!(content(&harness, "a").await, Err(HarnErrorCode::ResourceNotFound));
    assert_eq!(content(&harness, "b").await.unwrap(), "shared", "it is bob's too");
}

#[tokio::test]
async fn files_and_their_versions_outlive_a_restart() {
    let engine = engine();
    let harness = open(&engine);
    for text in ["one", "two", "three"] {
        write(&harness, &asked("alice"), "notes/a", text).await.unwrap();
    }
    harness.erase_workspace_file(&asked("alice"), WORKSPACE, &at("notes/a")).await.unwrap();
    write(&harness, &asked("alice"), "notes/a", "four").await.unwrap();
    write(&harness, &asked("alice"), "notes/a", "five").await.unwrap();
    let before = harness.field().with_state(quipu_core::State::hash);
    drop(harness);
    let harness = open(&engine);
    assert_eq!(harness.field().with_state(quipu_core::State::hash), before);
    assert_eq!(content(&harness, "notes/a").await.unwrap(), "five");
    for (version, expected) in [(1, Some("four")), (2, Some("five")), (3, None), (u64::MAX, None)] {
        let view = FileView { version: Some(version), after: None };
        let (eve, path) = (caller("eve"), at("notes/a"));
        let read = match harness.read_workspace_file(&eve, WORKSPACE, &path, view).await {
            Ok(FileOrListing::File(file)) => file.content,
            Ok(FileOrListing::Listing(_)) | Err(_) => None,
        };
        assert_eq!(read.as_deref(), expected, "{version}");
    }
}

#[tokio::test]
async fn of_two_that_write_at_once_both_are_versions() {
    let harness = harness();
    let (alice, bob) = (asked("alice"), asked("bob"));
    let both = tokio::join!(write(&harness, &alice, "a", "1"), write(&harness, &bob, "a", "2"));
    let mut versions = [both.0.unwrap().version, both.1.unwrap().version];
    versions.sort_unstable();
    assert_eq!(versions, [1, 2]);
}

#[tokio::test]
async fn a_name_through_a_key_for_any_agent_is_believed_as_far_as_its_authority_goes() {
    let harness = harness();
    write(&harness, &with_authority("ann", 7), "a", "hers").await.unwrap();
    let mut shared = with_authority("ann", 5);
    shared.caller.own_key = false;
    let refused = write(&harness, &shared, "a", "his").await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    let refused = harness.erase_workspace_file(&shared, WORKSPACE, &at("a")).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    write(&harness, &with_authority("ann", 5), "a", "hers, by a weaker key").await.unwrap();
}
