//! How streams of pushes are kept alive, counted, and cut off.

use std::time::Duration;

use quipu_server::{PushOptions, TlsFiles, secrets::keys::KeyAgent};
use serde_json::{Value, json};

use crate::{
    support::{
        Client, Events, Frame, Setup, Socket, TestServer, committed, path, register, wait_until,
    },
    tls,
};

fn often() -> PushOptions {
    PushOptions { heartbeat: Duration::from_millis(20), ..PushOptions::default() }
}

/// Often, but with time to answer on a busy machine.
fn answerable() -> PushOptions {
    PushOptions { heartbeat: Duration::from_millis(500), ..PushOptions::default() }
}

fn subscribe(client: &mut Client, events: &[&str]) -> Value {
    for agent in ["reader", "writer"] {
        client.post("/v1/register", &register(agent));
    }
    let payload = json!({"action": "subscribe", "subscription": {"events": events}});
    client.say("reader", "/v1/subscribe", &payload).json()
}

fn url<'answer>(answer: &'answer Value, kind: &str) -> &'answer str {
    path(answer[kind].as_str().unwrap())
}

fn dev(push: PushOptions) -> TestServer {
    TestServer::with(Setup { dev: true, push, ..Setup::default() })
}

#[test]
fn a_heartbeat_moves_the_cursor_past_what_is_not_for_the_subscriber() {
    let server = dev(often());
    let mut client = server.client();
    let answer = subscribe(&mut client, &["conflict.detected"]);
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &[]);
    let begin = events.heartbeat();
    let first = client.say("writer", "/v1/record", &committed("not for the reader")).json();
    while events.heartbeat() == begin {}
    let cursor = events.heartbeat();
    drop(events);
    let mut against = committed("on the contrary");
    against["relations"] = json!([{"type": "contradicts", "target_id": first["memory_unit_id"]}]);
    let second = client.say("writer", "/v1/record", &against).json();
    let header = [("last-event-id", cursor.as_str())];
    let event = Events::open(server.address, url(&answer, "sse_url"), &header).next().unwrap();
    assert_eq!(event.data["conflict_id"], second["conflicts_detected"][0]);
}

#[test]
fn a_stream_ends_at_the_heartbeat_after_its_key_was_revoked() {
    let server = TestServer::with(Setup { push: answerable(), ..Setup::default() });
    let answer = subscribe(&mut server.operator(), &["memory.recorded"]);
    let issue = || {
        let key = server.key_for(KeyAgent::Named("reader".to_owned()), 4, None);
        (key.split('_').nth(1).unwrap().to_owned(), format!("Bearer {key}"))
    };
    let (id, key) = issue();
    let header = [("authorization", key.as_str())];
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &header);
    let mut socket = Socket::open(server.address, url(&answer, "websocket_url"), &header);
    events.heartbeat();
    server.keys.revoke(&id).unwrap();
    let end = events.next().unwrap();
    assert_eq!((end.event.as_str(), &end.data["reason"]), ("end", &json!("unauthenticated")));
    loop {
        match socket.next() {
            Frame::Ping => socket.pong(),
            Frame::Close(code, reason) => {
                assert_eq!((code, reason.starts_with("unauthenticated; after=")), (1008, true));
                break;
            }
            Frame::Text(text) => panic!("{text}"),
        }
    }
}

#[test]
fn a_websocket_that_answers_pings_stays_and_one_that_does_not_is_cut_with_its_cursor() {
    let server = dev(answerable());
    let mut client = server.client();
    let answer = subscribe(&mut client, &["memory.recorded"]);
    let mut lively = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    for _ in 0..3 {
        assert_eq!(lively.next(), Frame::Ping);
        lively.pong();
    }
    let mut silent = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    let cut = loop {
        match silent.next() {
            Frame::Ping => {}
            Frame::Close(code, reason) => break (code, reason),
            Frame::Text(text) => panic!("{text}"),
        }
    };
    let (reason, cursor) = cut.1.split_once("; after=").unwrap();
    assert_eq!((cut.0, reason), (1001, "no answer to a ping"));
    let unit = client.say("writer", "/v1/record", &committed("after the cut")).json();
    let header = [("last-event-id", cursor)];
    let event = Events::open(server.address, url(&answer, "sse_url"), &header).next().unwrap();
    assert_eq!(event.data["memory_unit_id"], unit["memory_unit_id"]);
}

#[test]
fn one_stream_too_many_is_told_so_and_finds_room_when_another_ends() {
    let server = dev(PushOptions { streams_max: 2, ..often() });
    let answer = subscribe(&mut server.client(), &["memory.recorded"]);
    let first = Events::open(server.address, url(&answer, "sse_url"), &[]);
    let _second = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    for kind in ["sse_url", "websocket_url"] {
        let refused = server.client().get(url(&answer, kind));
        assert_eq!((refused.status, refused.code().as_str()), (503, "OVERLOADED"));
        assert!(refused.message().contains("2 streams"), "{}", refused.message());
    }
    drop(first);
    wait_until("there is room", || {
        Events::open(server.address, url(&answer, "sse_url"), &[]).status == 200
    });
}

#[test]
fn streams_run_over_tls_and_their_urls_say_so() {
    let files: TlsFiles = tls::files();
    let setup = Setup { dev: true, tls: Some(files), push: answerable(), ..Setup::default() };
    let server = TestServer::with(setup);
    let mut client = Client::over(tls::connection(&server));
    let answer = subscribe(&mut client, &["memory.recorded"]);
    assert!(answer["sse_url"].as_str().unwrap().starts_with("https://"), "{answer}");
    assert!(answer["websocket_url"].as_str().unwrap().starts_with("wss://"), "{answer}");
    let mut events = Events::over(tls::connection(&server), url(&answer, "sse_url"), &[]);
    let mut socket = Socket::over(tls::connection(&server), url(&answer, "websocket_url"), &[]);
    assert_eq!(socket.next(), Frame::Ping);
    socket.pong();
    let unit = client.say("writer", "/v1/record", &committed("over TLS")).json();
    let event = events.next().unwrap();
    assert_eq!(event.data["memory_unit_id"], unit["memory_unit_id"]);
    loop {
        match socket.next() {
            Frame::Ping => socket.pong(),
            frame @ (Frame::Text(_) | Frame::Close(..)) => {
                break assert_eq!(frame, Frame::Text(event.data));
            }
        }
    }
}
