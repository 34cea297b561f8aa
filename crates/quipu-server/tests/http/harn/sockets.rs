//! A Task's stream as a WebSocket.

use serde_json::{Value, json};

use super::task_calls::{expect, hidden, operator, settled, socket, waiting};
use crate::support::{Frame, Socket, TestServer};

fn text(socket: &mut Socket) -> Value {
    let frame = socket.next();
    let Frame::Text(value) = frame else { panic!("{frame:?}") };
    value
}

fn say(socket: &mut Socket, frame: &Value) {
    socket.say(&frame.to_string());
}

#[test]
fn a_browser_is_told_the_past_and_the_present_and_cancels() {
    let server = TestServer::start();
    let id = waiting(&server, "t");
    let mut socket = socket(&server, &format!("/v1/tasks/{id}/stream"));
    assert_eq!(socket.status, 101);
    let first = text(&mut socket);
    assert_eq!((&first["type"], &first["replayed"]), (&json!("event"), &json!(true)));
    assert_eq!(
        (&first["cursor"], &first["event"]["event"]),
        (&first["event"]["id"], &json!("task.submitted"))
    );
    say(&mut socket, &json!({"type": "ping"}));
    assert_eq!(text(&mut socket), json!({"type": "ping"}));
    say(&mut socket, &json!({"type": "cancel", "reason": "enough", "idempotency_key": "k"}));
    let mut told = Vec::new();
    let close = loop {
        let frame = socket.next();
        let Frame::Text(frame) = frame else { break frame };
        told.push(frame["event"]["event"].clone());
    };
    assert_eq!(told[..2], [json!("user.cancel_requested"), json!("task.canceled")]);
    assert_eq!(close, Frame::Close(1000, "the task has ended".to_owned()));
    assert_eq!(settled(&mut operator(&server), &id)["status"], "CANCELED");
}

#[test]
fn a_frame_that_is_refused_changes_nothing_and_the_stream_goes_on() {
    let server = TestServer::start();
    let id = waiting(&server, "t");
    let mut socket = socket(&server, &format!("/v1/tasks/{id}/stream"));
    let first = text(&mut socket);
    for (frame, code) in [
        (json!({"type": "dance"}), "invalid_request"),
        (json!([]), "invalid_request"),
        (json!({"type": "message"}), "invalid_request"),
        (json!({"type": "cancel", "reason": 7}), "invalid_request"),
    ] {
        say(&mut socket, &frame);
        let answer = text(&mut socket);
        assert_eq!(
            (&answer["type"], &answer["error"]["code"]),
            (&json!("error"), &json!(code)),
            "{frame}"
        );
    }
    socket.say("not JSON");
    assert_eq!(text(&mut socket)["type"], "error");
    say(&mut socket, &json!({"type": "resume", "cursor": first["cursor"]}));
    expect(operator(&server).send("POST", &format!("/v1/tasks/{id}/cancel"), &[], None), 200);
    assert_eq!(text(&mut socket)["event"]["event"], "user.cancel_requested");
}

#[test]
fn a_cursor_that_cannot_be_used_is_said_and_ends_it() {
    let server = TestServer::start();
    let id = waiting(&server, "t");
    let mut resumed = socket(&server, &format!("/v1/tasks/{id}/stream"));
    text(&mut resumed);
    say(&mut resumed, &json!({"type": "resume", "cursor": "event_00000000000000ff"}));
    assert_eq!(text(&mut resumed)["error"]["code"], "cursor_expired");
    assert!(matches!(resumed.next(), Frame::Close(1008, _)));
    let mut opened = socket(&server, &format!("/v1/tasks/{id}/stream?after_event_id=event_x"));
    assert_eq!(text(&mut opened)["error"]["code"], "cursor_expired");
    assert!(matches!(opened.next(), Frame::Close(1008, _)));
}

#[test]
fn nobody_listens_without_a_key_or_to_what_is_hidden() {
    let server = TestServer::start();
    let id = waiting(&server, "t");
    hidden(&server, "secret-plans", "t-hidden");
    let path = format!("/v1/tasks/{id}/stream");
    assert_eq!(Socket::open(server.address, &path, &[]).status, 401);
    assert_eq!(socket(&server, "/v1/tasks/t-none/stream").status, 404);
    let named = quipu_server::secrets::keys::KeyAgent::Named("mallory".to_owned());
    let key = format!("bearer.{}", server.key_for(named, 5, None));
    let offered = format!("{key}, {}", super::APRIL);
    let headers = [("sec-websocket-protocol", offered.as_str())];
    assert_eq!(Socket::open(server.address, "/v1/tasks/t-hidden/stream", &headers).status, 404);
    assert_eq!(Socket::open(server.address, &path, &headers).status, 101);
    let alone = [("sec-websocket-protocol", key.as_str())];
    assert_eq!(Socket::open(server.address, &path, &alone).status, 400, "a key is not said back");
}

#[test]
fn a_task_that_waits_asks_and_goes_on_with_the_answer() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let path = format!("/v1/tasks/{}", waiting(&server, "t"));
    let mut socket = socket(&server, &format!("{path}/stream"));
    assert_eq!(text(&mut socket)["event"]["event"], "task.submitted");
    expect(client.send("POST", &format!("{path}/claim"), &[], None), 200);
    assert_eq!(text(&mut socket)["event"]["event"], "task.started");
    let question = json!({"for": "input", "reason": "how much?"});
    let reply = client.post(&format!("{path}/await"), &question);
    assert!((200..300).contains(&reply.status), "{}", reply.text());
    assert_eq!(text(&mut socket)["event"]["event"], "task.input_required");
    let asks = text(&mut socket);
    assert_eq!((&asks["type"], &asks["task_id"]), (&json!("input_required"), &json!("t")));
    assert_eq!(asks["request"]["reason"], "how much?");
    let parts = json!([{"type": "text", "text": "49"}]);
    say(&mut socket, &json!({"type": "message", "message": {"role": "user", "parts": parts}}));
    let told: Vec<_> = (0..3).map(|_| text(&mut socket)["event"]["event"].clone()).collect();
    assert!(told.contains(&json!("user.input_submitted")), "{told:?}");
    assert!(told.contains(&json!("task.status_changed")), "{told:?}");
    assert_eq!(expect(client.get(&path), 200)["status"], "WORKING");
}
