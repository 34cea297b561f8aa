//! A data directory that an earlier version wrote: it opens without a migration, from its snapshot and from its log
//! alone, and every question is answered as that version answered it. The directory is never made again; what it
//! answers may change on purpose, and then `target/tmp/answers-v1.json` is taken over after it was read.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    data_directory::copy_tree,
    support::{Client, Settings, quipu},
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
const SNAPSHOTS: &str = "fields/default/snapshots";
/// The state that the log made in the version which wrote it.
const STATE: &str = "e1eb73f34f33a9cb7d47665056759a521c1361f418c04af6c4803fcc844b587e";

fn copy_of_the_directory() -> TempDir {
    let data = TempDir::new().unwrap();
    copy_tree(&Path::new(FIXTURES).join("data-v1"), data.path());
    data
}

/// Sends one of the recorded requests; an answer without what the clock moves.
fn answer(client: Client, asked: &Value) -> (u64, Value) {
    let headers = asked["headers"].as_object().unwrap();
    let mut client = headers
        .iter()
        .fold(client, |client, (name, value)| client.with_header(name, value.as_str().unwrap()));
    let text = |member: &str| asked[member].as_str().unwrap().to_owned();
    let body = asked["body"].as_object().map(|body| serde_json::to_vec(body).unwrap());
    let answer = client
        .try_request(&text("method"), &text("path"), &body.unwrap_or_default())
        .expect("the connection holds");
    let mut json = answer.json();
    let moved_by_the_clock: &[&str] = match text("path").as_str() {
        "/v1/field/status" => &["position", "head", "epoch"],
        "/v1/attune" => &["epoch"],
        _ => &[],
    };
    for member in moved_by_the_clock {
        json.as_object_mut().unwrap().remove(*member);
    }
    (u64::from(answer.status), json)
}

/// Opens a copy and asks it everything that was asked then.
fn answers_as_then(data: &Path) {
    let expected = fs::read(Path::new(FIXTURES).join("answers-v1.json")).unwrap();
    let mut expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    assert!(expected.len() > 15, "there is something to compare");
    let server = Settings::dev(data).start();
    let mut different = Vec::new();
    for asked in &mut expected {
        let (status, answer) = answer(server.client(), asked);
        if (asked["status"].as_u64(), &asked["answer"]) != (Some(status), &answer) {
            different.push(format!("{} {}", asked["method"], asked["path"]));
            asked["status"] = status.into();
            asked["answer"] = answer;
        }
    }
    if !different.is_empty() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers-v1.json");
        fs::write(&file, serde_json::to_vec_pretty(&expected).unwrap()).unwrap();
        panic!("answered otherwise: {different:?}; see {}", file.display());
    }
}

#[test]
fn its_log_is_whole_and_makes_the_same_state() {
    let data = copy_of_the_directory();
    let verified = quipu(["verify", "--data", data.path().to_str().unwrap()]).succeeded();
    assert!(verified.stdout.contains(STATE), "{}", verified.stdout);
}

#[test]
fn from_its_snapshot_it_answers_as_it_did() {
    let data = copy_of_the_directory();
    assert_eq!(fs::read_dir(data.path().join(SNAPSHOTS)).unwrap().count(), 1);
    answers_as_then(data.path());
}

#[test]
fn from_its_log_alone_it_answers_as_it_did() {
    let data = copy_of_the_directory();
    fs::remove_dir_all(data.path().join(SNAPSHOTS)).unwrap();
    answers_as_then(data.path());
}
