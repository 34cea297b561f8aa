//! A key that is revoked ends the streams that were opened with it at once, however rarely they say that they are there.

use std::time::Duration;

use quipu_server::PushOptions;

use crate::support::{Events, Frame, Setup, Socket, TestServer, path, register};

#[test]
fn streams_end_when_their_key_is_revoked_and_others_go_on() {
    let push = PushOptions { heartbeat: Duration::from_secs(3600), ..PushOptions::default() };
    let server = TestServer::with(Setup { push, ..Setup::default() });
    let (secret, stays) = (server.key(10), server.key(10));
    let key = format!("Bearer {secret}");
    let mut client = server.client().with_key(&secret);
    client.post("/v1/register", &register("a"));
    let asked =
        serde_json::json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = client.say("a", "/v1/subscribe", &asked).json();
    let url = |name: &str| path(answer[name].as_str().unwrap()).to_owned();
    let version = ("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11");
    let [mut pushes, mut events] = [
        Events::open(server.address, &url("sse_url"), &[("authorization", &key)]),
        Events::open(server.address, "/v1/events/stream", &[("authorization", &key), version]),
    ];
    assert_eq!((pushes.status, events.status), (200, 200));
    let mut socket =
        Socket::open(server.address, &url("websocket_url"), &[("authorization", &key)]);
    let mut log = Socket::open(server.address, "/v1/log/follow", &[("authorization", &key)]);
    assert!(matches!(log.next(), Frame::Text(_)), "what there is");
    let other = ("authorization", &*format!("Bearer {stays}"));
    let mut others = Socket::open(server.address, &url("websocket_url"), &[other]);
    let made = server.keys.list().unwrap();
    let id = &made.iter().find(|key| secret.contains(&key.id)).unwrap().id;
    assert!(server.keys.revoke(id).unwrap(), "{id}");
    assert_eq!(pushes.next().unwrap().data["reason"], "unauthenticated");
    assert_eq!(events.next().unwrap().data["error"]["code"], "unauthenticated");
    let Frame::Close(code, reason) = socket.next() else { panic!("it goes on") };
    assert_eq!((code, reason.split(';').next()), (1008, Some("unauthenticated")));
    assert_eq!(log.next(), Frame::Close(1008, "unauthenticated".to_owned()));
    let mut client = server.client().with_key(&stays);
    client.post("/v1/register", &register("b"));
    let unit = client.say("b", "/v1/record", &crate::support::committed("after it")).json();
    let Frame::Text(push) = others.next() else { panic!("it ended") };
    assert_eq!(push["memory_unit_id"], unit["memory_unit_id"]);
}
