//! A session that may only be joined by invitation, and one that nobody opened: a stranger gets the same answer for both,
//! whichever protocol it asks by.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Answer, Client, Server, draft, finding, quipu, scope},
};

const NOBODYS: &str = "session-01jz7x3k5v9m2n4p6q8r0s1t3v";

fn opened_by(client: &mut Client, join: &str) -> String {
    let session = json!({"goal": "hire", "policy": {"join": join}});
    let made = client.operate("SESSION", "lead", json!({"action": "create", "session": session}));
    made.ok()["session"]["id"].as_str().unwrap().to_owned()
}

/// The answer without what is each one's own.
fn said(answer: &Answer, session: &str) -> (u16, Value) {
    let text = answer.text().replace(session, "SESSION");
    let mut body: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    for own in ["request_id", "trace_id"] {
        if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
            error.remove(own);
        }
        if let Some(body) = body.as_object_mut() {
            body.remove(own);
        }
    }
    (answer.status, body)
}

/// Everything that a stranger may try with the id of a session.
fn tried(server: &Server, key: &str, session: &str) -> Vec<(String, (u16, Value))> {
    let mut answers = Vec::new();
    let mut akashik = server.client().with_key(key);
    for (operation, payload) in [
        ("SESSION", json!({"action": "get", "session_id": session})),
        ("SESSION", json!({"action": "join", "session_id": session})),
        ("SESSION", json!({"action": "leave", "session_id": session})),
        ("SESSION", json!({"action": "end", "session_id": session})),
        ("SESSION", json!({"action": "create", "session_id": session, "session": {"goal": "g"}})),
        ("REPLAY", json!({"target": {"type": "session", "id": session}, "depth": "summary"})),
    ] {
        let answer = akashik.operate(operation, "guest", payload.clone());
        answers.push((format!("{operation} {}", payload["action"]), said(&answer, session)));
    }
    let task = json!({"action": "create", "task": {"description": "look"}});
    for (operation, payload) in [
        ("RECORD", finding("a guess")),
        ("RECORD", draft("a guess")),
        ("COORDINATE", task),
        ("DETECT", json!({"mode": "scan"})),
    ] {
        let message = crate::support::Message::new(operation, "guest", payload);
        let answer = akashik.send(&message.with("session_id", session));
        let (status, mut body) = said(&answer, session);
        if operation == "DETECT" {
            body = json!(body["conflicts"]);
        }
        answers.push((format!("{operation} within"), (status, body)));
    }
    let harn = server.client().with_key(key).with_header("agents-protocol-version", "2026-10-11");
    let mut harn = harn.with_header("akashik-agent", "guest");
    let at = |rest: &str| format!("/v1/sessions/{session}{rest}");
    for path in [at(""), at("/messages"), at("/events"), at("/branches"), at("/receipts")] {
        answers.push((path.replace(session, "SESSION"), said(&harn.get(&path), session)));
    }
    let message = json!({"message": {"role": "user", "parts": [{"type": "text", "text": "hi"}]}});
    let task = json!({"input": {"role": "user", "parts": [{"type": "text", "text": "hi"}]}});
    for (path, body) in [
        (at("/messages"), &message),
        (at("/tasks"), &task),
        (at("/fork"), &json!({})),
        (at("/close"), &json!({})),
    ] {
        let answer = harn.post(&path, body.to_string());
        answers
            .push((format!("POST {}", path.replace(session, "SESSION")), said(&answer, session)));
    }
    answers
}

#[test]
fn a_session_for_the_invited_is_answered_like_one_that_nobody_opened() {
    let data = TempDir::new().unwrap();
    let (server, operator) = start_with_key(data.path());
    let mut client = server.client().with_key(&operator);
    client.register("lead", "lead");
    client.register("guest", "tester");
    let place = data.path().to_str().unwrap();
    let new = ["key", "create", "--data", place, "--agent", "guest", "--authority", "4"];
    let made = quipu(new).succeeded();
    let guest = made.stdout.lines().last().unwrap();
    server.client().with_key(guest).operate(
        "REGISTER",
        "guest",
        json!({"id": "guest", "role": "r"}),
    );
    let hidden = opened_by(&mut client, "invite");
    let (of_hidden, of_nobodys) = (tried(&server, guest, &hidden), tried(&server, guest, NOBODYS));
    for ((what, hidden), (_, nobodys)) in of_hidden.iter().zip(&of_nobodys) {
        assert_eq!(hidden, nobodys, "{what}");
    }
    let refused = of_hidden.iter().filter(|(_, (status, _))| *status >= 400).count();
    assert!(refused >= 12, "{of_hidden:?}");
    let list =
        server.client().with_key(guest).operate("SESSION", "guest", json!({"action": "list"}));
    assert!(!list.text().contains(&hidden), "{}", list.text());
    let open = opened_by(&mut client, "open");
    let mut guest = server.client().with_key(guest);
    guest.operate("SESSION", "guest", json!({"action": "join", "session_id": open})).ok();
    let message = crate::support::Message::new("RECORD", "guest", finding("within"));
    guest.send(&message.with("session_id", open.as_str())).ok();
    let seen = guest.attune("guest", scope(10));
    assert!(seen["record"].is_array());
}
