//! A purge as an operator sees it: the text is in no file, also after a kill, and `quipu verify` is green;
//! a text that somebody erased without a tombstone is damage.

use std::path::Path;

use quipu_log::{BodyAddress, Engine, FieldName, SqliteEngine, SqliteOptions};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Settings, finding, quipu, verify_is_green};

fn is_found(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_found(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}

#[test]
fn a_purged_text_is_gone_also_after_a_crash_and_the_directory_verifies() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("a", "tester");
    client.record("a", finding("a ship"));
    let mut secret = finding("Ada plays the xylophone");
    secret["type"] = json!("observation");
    client.record("a", secret);
    assert!(is_found(data.path(), "xylophon"));
    let purge = json!({"strategy": "purge", "filter": {"types": ["observation"]}});
    let answer = client.operate("COMPACT", "a", purge).ok();
    assert_eq!(answer["units_affected"], 1);
    assert!(answer["storage_reclaimed_bytes"].as_u64().unwrap() > 0, "{answer}");
    server.kill();
    assert!(!is_found(data.path(), "xylophon"));
    assert_eq!(verify_is_green(data.path())["bodies_erased"], 1);
    let server = Settings::dev(data.path()).start();
    server.stop();
    assert!(!is_found(data.path(), "xylophon"));
    assert!(is_found(data.path(), "a ship"));
}

#[test]
fn what_was_said_of_a_purged_unit_is_gone_too_also_after_a_crash() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("a", "tester");
    client.register("b", "tester");
    let mut said = finding("Ada plays the xylophone");
    said["type"] = json!("observation");
    let unit = client.record("a", said)["memory_unit_id"].clone();
    let mut against = finding("Ada is a poet");
    against["relations"] = json!([{"type": "contradicts", "target_id": unit,
                                   "description": "she does not"}]);
    let conflict = client.record("b", against)["conflicts_detected"][0].clone();
    let ballot = json!({"conflict_id": conflict, "strategy": "vote", "quorum": 3,
                        "resolution": {"winner_id": unit, "rationale": "she has a xylophone"}});
    client.operate("MERGE", "a", ballot).ok();
    let offer = json!({"action": "offer", "task_id": "t", "to_agent": "b", "reason": "enough",
                       "context": {"summary": "xylophone matters", "memory_unit_ids": [unit]}});
    client.operate("HANDOFF", "a", offer).ok();
    let retract = json!({"unit_id": unit, "intent": {"purpose": "it was no xylophone"}});
    let mut of_a = server.client().with_header("akashik-agent", "a");
    of_a.post("/v1/retract", retract.to_string()).ok();
    let purge = json!({"strategy": "purge", "filter": {"types": ["observation"]}});
    client.operate("COMPACT", "a", purge).ok();
    server.kill();
    assert!(!is_found(data.path(), "xylophon"));
    assert_eq!(verify_is_green(data.path())["bodies_erased"], 5);
}

#[test]
fn a_text_that_was_erased_without_a_tombstone_is_damage() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("a", "tester");
    client.record("a", finding("a ship"));
    server.stop();
    let engine = SqliteEngine::open(data.path(), SqliteOptions::default()).unwrap();
    let body = BodyAddress { position: 2, event: 0 };
    engine.erase(&FieldName::default_field(), &[body]).unwrap();
    drop(engine);
    let verified = quipu(["verify", "--data", data.path().to_str().unwrap()]).failed();
    let said = verified.said();
    assert!(
        said.contains("position 2: the text of event 0 was erased without a tombstone"),
        "{said}"
    );
}

#[test]
fn the_content_of_an_artifact_that_was_taken_away_is_in_no_file_and_the_directory_verifies() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let version = "agents-protocol-2026-04-25";
    let mut client = server.client().with_header("Harn-Agents-Protocol-Version", version);
    let body = json!({"kind": "file", "mime_type": "text/plain", "visibility": "public"});
    let made = client.post("/v1/artifacts", body.to_string()).json();
    let path = format!("/v1/artifacts/{}/content", made["id"].as_str().unwrap());
    // Nine bytes are twelve letters of base64, whatever is around them.
    let text = "xylophone";
    let kept = "eHlsb3Bob25l";
    assert_eq!(client.try_request("PUT", &path, text.as_bytes()).unwrap().status, 200);
    assert!(is_found(data.path(), kept));
    assert_eq!(client.try_request("DELETE", &path, b"").unwrap().status, 200);
    assert_eq!(client.try_request("GET", &path, b"").unwrap().status, 404);
    server.kill();
    assert!(!is_found(data.path(), kept) && !is_found(data.path(), text));
    assert_eq!(verify_is_green(data.path())["bodies_erased"], 1);
    let server = Settings::dev(data.path()).start();
    let mut client = server.client().with_header("Harn-Agents-Protocol-Version", version);
    let left = client.try_request("GET", path.trim_end_matches("/content"), b"").unwrap().json();
    assert_eq!(left["metadata"]["content_redacted"]["by"], "operator");
    server.stop();
}
