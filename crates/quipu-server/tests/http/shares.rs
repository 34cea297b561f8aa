//! What one key may have of what all share, and that another key goes on.

use std::io::Write as _;

use quipu_server::PushOptions;
use quipu_server::secrets::keys::KeyAgent;

use crate::support::{Client, Events, Setup, TestServer, committed, path, register, wait_until};

#[test]
fn one_key_has_half_of_the_streams_and_another_key_gets_one() {
    let push = PushOptions { streams_max: 4, ..PushOptions::default() };
    let server = TestServer::with(Setup { push, ..Setup::default() });
    let [greedy, other] = ["a", "b"].map(|agent| {
        let key = server.key_for(KeyAgent::Named(agent.to_owned()), 4, None);
        let mut client = server.client().with_key(&key);
        assert_eq!(server.operator().say(agent, "/v1/register", &register(agent)).status, 200);
        let asked = serde_json::json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
        let answer = client.say(agent, "/v1/subscribe", &asked);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let url = answer.json()["sse_url"].as_str().unwrap().to_owned();
        (format!("Bearer {key}"), path(&url).to_owned())
    });
    let open = |(key, path): &(String, String)| {
        Events::open(server.address, path, &[("authorization", key)])
    };
    let held = [open(&greedy), open(&greedy)];
    assert!(held.iter().all(|stream| stream.status == 200));
    let refused = server.client().with("authorization", &greedy.0).get(&greedy.1);
    assert_eq!((refused.status, refused.code().as_str()), (429, "RATE_LIMITED"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(open(&other).status, 200);
    drop(held);
    wait_until("there is room", || open(&greedy).status == 200);
}

#[test]
fn slow_large_bodies_of_one_key_take_no_room_of_another() {
    let server = TestServer::start();
    let key = server.key(4);
    let slow: Vec<_> = (0..40)
        .map(|_| {
            let mut socket = Client::socket(server.address);
            let head = format!(
                "POST /v1/record HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
                 akashik-agent: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{{",
                4 << 20
            );
            socket.write_all(head.as_bytes()).unwrap();
            socket
        })
        .collect();
    let mut other = server.operator();
    other.post("/v1/register", &register("b"));
    for _ in 0..3 {
        let large = committed(&"Text. ".repeat(10_000));
        assert_eq!(other.say("b", "/v1/record", &large).status, 200);
    }
    for socket in &slow {
        socket.set_nonblocking(true).unwrap();
        let waits = std::io::Read::read(&mut &*socket, &mut [0]).unwrap_err();
        assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock, "nobody waited for its end");
    }
}
