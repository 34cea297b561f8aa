//! Each mode over HTTP, and what a crash changes about it: nothing.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harn::{Harn, SECRET, check_with_python, text};
use crate::support::Settings;

fn what_if() -> Value {
    json!({"mode": "with_overrides", "reason": "counterfactual", "override": {
        "llm:main:1": {"kind": "llm_provider_response", "value": {"content": "99 dollars"}, "reason": "what if"},
        "secret:api_token": {"kind": "secret_value", "value": "tok-other-9999"}}})
}

#[test]
fn a_recorded_run_is_replayed_in_each_mode_and_after_a_crash() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    let (task, checkpoint) = harn.record();
    let exact = harn.replay(&task, &Value::Null);
    let other = harn.replay(&task, &what_if());
    let from = json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint});
    let from = harn.replay(&task, &from);
    let ids = [task, text(&exact["id"]), text(&other["id"]), text(&from["id"])];
    for replay in [&exact, &other, &from] {
        assert_eq!(replay["status"], "COMPLETED", "{replay}");
        assert_eq!(replay["session_id"], exact["session_id"]);
    }
    let receipts: Vec<Value> = ids.iter().map(|id| harn.receipt(id)).collect();
    check_with_python(&receipts.iter().collect::<Vec<_>>());
    assert_eq!(receipts[1]["deltas"], json!([]));
    let keys: Vec<&Value> =
        receipts[2]["deltas"].as_array().unwrap().iter().map(|it| &it["override_key"]).collect();
    assert_eq!(keys, ["llm:main:1", "secret:api_token"]);
    let replayed = |events: &[Value]| events.iter().filter(|it| it["replayed"] == true).count();
    let events: Vec<Vec<Value>> = ids.iter().map(|id| harn.events(id)).collect();
    assert!(0 < replayed(&events[3]) && replayed(&events[3]) < replayed(&events[1]));
    let told = json!([events, receipts]).to_string();
    assert!(!told.contains(SECRET) && !told.contains("tok-other-9999"));
    server.kill();

    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    for ((id, receipt), events) in ids.iter().zip(&receipts).zip(&events) {
        assert_eq!(harn.receipt(id), *receipt);
        assert_eq!(harn.events(id), *events);
    }
    let again = harn.replay(&ids[0], &what_if());
    let again = harn.receipt(again["id"].as_str().unwrap());
    assert_eq!(again["deltas"], receipts[2]["deltas"]);
    check_with_python(&[&again]);
    assert_nowhere(data.path(), &[SECRET, "tok-other-9999"]);
}

/// Looks for texts in every file below a directory.
fn assert_nowhere(directory: &std::path::Path, secrets: &[&str]) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_nowhere(&path, secrets);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for secret in secrets {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} is in {}", path.display());
        }
    }
}

#[test]
fn replays_that_a_crash_interrupts_are_carried_out_after_it() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    let (task, _) = harn.record();
    let path = format!("/v1/tasks/{task}/replay");
    let started: Vec<String> =
        (0..20).map(|_| text(&harn.post(&path, &Value::Null)["id"])).collect();
    server.kill();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    for replay in &started {
        assert_eq!(harn.settled(replay)["status"], "COMPLETED");
        check_with_python(&[&harn.receipt(replay)]);
        let events = harn.events(replay);
        let ends = events.iter().filter(|event| event["event"] == "replay.completed");
        assert_eq!(ends.count(), 1);
    }
}

#[test]
fn bad_requests_are_refused_in_the_protocols_words() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    let (task, _) = harn.record();
    let llm = |more: &str| {
        format!(
            r#"{{"mode":"with_overrides","override":{{"llm:main:1":{{"kind":"llm_provider_response",{more}}}}}}}"#
        )
    };
    let cases = [
        (r#"{"mode":"sideways"}"#.to_owned(), "mode"),
        (r#"{"mode":"from_checkpoint"}"#.to_owned(), "checkpoint_id"),
        (format!(r#"{{"mode":"from_checkpoint","checkpoint_id":"{task}"}}"#), "checkpoint_id"),
        (
            llm(&format!(r#""value":1,"sha256":"sha256:{}""#, "a".repeat(64))),
            "override.llm:main:1.sha256",
        ),
        (llm(r#""artifact_id":"artifact_nope""#), "override.llm:main:1.artifact_id"),
        (llm(r#""value":1"#).replace("with_overrides", "exact"), "override"),
        (llm(r#""value":1"#).replace("llm:main:1", "llm:main:9"), "override.llm:main:9"),
    ];
    for (body, param) in cases {
        let body: Value = serde_json::from_str(&body).unwrap();
        let (status, refused) = harn.call("POST", &format!("/v1/tasks/{task}/replay"), &body);
        assert_eq!(status, 400, "{body}: {refused}");
        assert_eq!(refused["error"]["code"], "invalid_request");
        assert_eq!(refused["error"]["param"], param, "{refused}");
    }
    let twice = br#"{"mode":"exact","mode":"exact"}"#;
    let mut client =
        server.client().with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25");
    let refused = client.try_request("POST", &format!("/v1/tasks/{task}/replay"), twice).unwrap();
    assert_eq!(refused.status, 400, "{}", refused.text());
    let (status, missing) = harn.call("POST", "/v1/tasks/task_nope/replay", &Value::Null);
    assert_eq!((status, &missing["error"]["code"]), (404, &json!("resource_not_found")));
    let (status, stale) = harn.call(
        "GET",
        &format!("/v1/tasks/{task}/events?after_event_id=event_nope"),
        &Value::Null,
    );
    assert_eq!((status, &stale["error"]["code"]), (410, &json!("cursor_expired")));
}

#[test]
fn what_the_field_answered_itself_replays_exactly() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    let asked = json!({"session_id": "session_default", "input": "what do we know?"});
    let task = text(&harn.post("/v1/tasks", &asked)["id"]);
    assert_eq!(harn.settled(&task)["status"], "COMPLETED");
    let replay = harn.replay(&task, &Value::Null);
    assert_eq!(replay["status"], "COMPLETED", "{replay}");
    let id = text(&replay["id"]);
    let difference = harn.get(&format!("/v1/tasks/{id}/divergence"));
    assert_eq!(difference["diverged"], false, "{difference}");
    check_with_python(&[&harn.receipt(&task), &harn.receipt(&id)]);
}

#[test]
fn a_replay_that_is_called_off_while_it_runs_ends_one_way_or_the_other() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut harn = Harn::of(&server);
    let (task, _) = harn.record();
    for _ in 0..10 {
        let replay = text(&harn.post(&format!("/v1/tasks/{task}/replay"), &Value::Null)["id"]);
        let (status, answer) =
            harn.call("POST", &format!("/v1/tasks/{replay}/cancel"), &Value::Null);
        let ended = harn.settled(&replay);
        let final_state = harn.receipt(&replay)["lifecycle"]["final_state"].clone();
        match status {
            200 => assert_eq!(
                (&ended["status"], &final_state),
                (&json!("CANCELED"), &json!("CANCELED"))
            ),
            409 => assert_eq!(
                (&ended["status"], &final_state),
                (&json!("COMPLETED"), &json!("SUCCEEDED"))
            ),
            _ => panic!("{status} {answer}"),
        }
        let events = harn.events(&replay);
        let ends = events.iter().filter(|event| {
            let name = event["event"].as_str().unwrap();
            event["replayed"] == false && ["task.completed", "task.canceled"].contains(&name)
        });
        assert_eq!(ends.count(), 1);
    }
}
