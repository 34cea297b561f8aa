//! Ranges of Events and their streams over HTTP, as a client that loses its connection meets them.

use std::time::Duration;

use quipu_server::PushOptions;
use serde_json::{Value, json};

use super::{
    refusal, refused,
    task_calls::{expect, operator, stream, waiting},
};
use crate::support::{Client, Setup, TestServer};

fn cancel(client: &mut Client, id: &str) {
    expect(client.send("POST", &format!("/v1/tasks/{id}/cancel"), &[], None), 200);
}

fn ids(list: &Value) -> Vec<String> {
    let data = list["data"].as_array().unwrap();
    data.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_range_is_the_same_when_it_is_read_again_and_goes_on_behind_its_cursor() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let id = waiting(&server, "t");
    cancel(&mut client, &id);
    let path = format!("/v1/tasks/{id}/events");
    let all = expect(client.get(&path), 200);
    assert_eq!(expect(client.get(&path), 200), all);
    let ids = ids(&all);
    assert!(ids.len() >= 4, "{all}");
    let first = expect(client.get(&format!("{path}?limit=1")), 200);
    assert_eq!(first["next_cursor"], ids[0].as_str());
    let rest = expect(client.get(&format!("{path}?after_event_id={}", ids[0])), 200);
    assert_eq!(self::ids(&rest), ids[1..]);
    let reply = client.get(&format!("{path}?after_event_id=event_00000000000000ff"));
    assert_eq!(refusal(&reply), refused(410, "cursor_expired"));
    assert_eq!(refusal(&client.get("/v1/events/event_x")), refused(404, "resource_not_found"));
    let names: Vec<_> =
        all["data"].as_array().unwrap().iter().map(|e| e["event"].clone()).collect();
    assert_eq!(
        names[..3],
        [json!("task.submitted"), json!("user.cancel_requested"), json!("task.canceled")]
    );
}

#[test]
fn a_stream_begins_with_the_past_goes_on_with_the_present_and_ends_with_its_task() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let id = waiting(&server, "t");
    let path = format!("/v1/tasks/{id}/stream");
    let mut events = stream(&server, &path, &[("accept", "*/*")]);
    assert_eq!(events.status, 200);
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    let first = events.next().unwrap();
    assert_eq!((first.event.as_str(), &first.data["replayed"]), ("task.submitted", &json!(true)));
    assert_eq!(first.data["id"], first.id.as_str());
    cancel(&mut client, &id);
    let mut live = Vec::new();
    while let Some(event) = events.next() {
        assert_eq!(event.data["replayed"], false);
        live.push(event.id);
    }
    let range = expect(client.get(&format!("/v1/tasks/{id}/events")), 200);
    assert_eq!(live, ids(&range)[1..]);
    let mut resumed = stream(&server, &path, &[("last-event-id", first.id.as_str())]);
    let again = std::iter::from_fn(|| resumed.next()).map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(again, live);
}

#[test]
fn a_cursor_that_cannot_be_used_is_said_in_the_stream_which_then_ends() {
    let server = TestServer::start();
    let id = waiting(&server, "t");
    let unknown = [("last-event-id", "event_00000000000000ff")];
    for path in [
        format!("/v1/tasks/{id}/stream"),
        "/v1/sessions/session_default/events/stream".to_owned(),
        "/v1/events/stream".to_owned(),
    ] {
        let key = format!("Bearer {}", server.key(10));
        let headers = [(super::VERSION, super::APRIL), ("authorization", key.as_str())];
        let mut client = server.client();
        let reply = client.send("GET", &path, &[&headers[..], &unknown].concat(), None);
        assert_eq!(reply.status, 200);
        let (event, data) = reply
            .text()
            .trim_end()
            .split_once('\n')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        assert_eq!(event, "event: error");
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(data["error"]["code"], "cursor_expired");
    }
}

#[test]
fn streams_of_a_session_and_of_everything_are_told_of_every_task() {
    let server = TestServer::start();
    let mut of_session = stream(&server, "/v1/sessions/session_default/events/stream", &[]);
    let mut of_all = stream(&server, "/v1/events/stream?session_id=session_default", &[]);
    for number in 0..3 {
        let id = waiting(&server, &format!("t{number}"));
        for events in [&mut of_session, &mut of_all] {
            let event = events.next().unwrap();
            assert_eq!(
                (event.event.as_str(), &event.data["task_id"]),
                ("task.submitted", &json!(id))
            );
        }
    }
}

#[test]
fn a_stream_ends_with_its_key_and_with_the_server_and_there_are_only_so_many() {
    let push = PushOptions { heartbeat: Duration::from_millis(50), streams_max: 2 };
    let mut server = TestServer::with(Setup { push, ..Setup::default() });
    waiting(&server, "t");
    let mut revoked = stream(&server, "/v1/events/stream", &[]);
    assert_eq!(revoked.next().unwrap().event, "task.submitted");
    let mut other = stream(&server, "/v1/events/stream", &[]);
    assert_eq!(other.next().unwrap().event, "task.submitted");
    let reply = operator(&server).get("/v1/events/stream");
    assert_eq!(refusal(&reply), refused(503, "service_unavailable"));
    for key in server.keys.list().unwrap() {
        server.keys.revoke(&key.id).unwrap();
    }
    let last = std::iter::from_fn(|| revoked.next()).last().unwrap();
    assert_eq!(
        (last.event.as_str(), &last.data["error"]["code"]),
        ("error", &json!("unauthenticated"))
    );
    server.stop();
    while other.next().is_some() {}
    server.join();
}
