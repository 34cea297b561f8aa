//! SUBSCRIBE as a client meets it: pushes over real sockets, resumed, cut off, refused, and ended.

use std::{sync::Arc, time::Duration};

use quipu_log::{Engine, MemoryEngine};
use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use crate::support::{
    Client, Events, Frame, SentEvent, Setup, Socket, TestServer, committed, path, register,
};

fn subscribe(client: &mut Client, agent: &str, subscription: &Value) -> Value {
    let payload = json!({"action": "subscribe", "subscription": subscription});
    let reply = client.say(agent, "/v1/subscribe", &payload);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn url<'answer>(answer: &'answer Value, kind: &str) -> &'answer str {
    path(answer[kind].as_str().unwrap())
}

/// A server without keys, the agents `reader` and `writer`, and a subscription of the first.
fn begin(setup: Setup) -> (TestServer, Value) {
    let server = TestServer::with(setup);
    let mut client = server.client();
    for agent in ["reader", "writer"] {
        client.post("/v1/register", &register(agent));
    }
    let answer = subscribe(&mut client, "reader", &json!({"events": ["memory.recorded"]}));
    (server, answer)
}

fn dev() -> Setup {
    Setup { dev: true, ..Setup::default() }
}

fn record(client: &mut Client, content: &str) -> String {
    let reply = client.say("writer", "/v1/record", &committed(content));
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["memory_unit_id"].as_str().unwrap().to_owned()
}

fn unit(event: &SentEvent) -> String {
    event.data["memory_unit_id"].as_str().unwrap().to_owned()
}

#[test]
fn the_answer_says_where_to_listen_and_a_listener_is_told() {
    let (server, answer) = begin(dev());
    assert_eq!(answer["status"], "ok");
    let id = answer["subscription"]["id"].as_str().unwrap();
    let sse = answer["sse_url"].as_str().unwrap();
    assert!(
        sse.starts_with(&format!("http://localhost/v1/subscriptions/{id}/events?after=")),
        "{sse}"
    );
    let ws = answer["websocket_url"].as_str().unwrap();
    assert!(ws.starts_with(&format!("ws://localhost/v1/subscriptions/{id}/ws?after=")), "{ws}");

    let recorded = record(&mut server.client(), "ships at sea");
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &[]);
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    let event = events.next().unwrap();
    assert_eq!((event.event.as_str(), unit(&event)), ("memory.recorded", recorded.clone()));
    assert_eq!(event.data["subscription_id"], id);
    assert_eq!(event.data["cursor"], event.id.as_str());
    let mut socket = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    socket.say("a subscriber has nothing to say");
    assert_eq!(socket.next(), Frame::Text(event.data));
}

#[test]
fn whoever_is_cut_off_and_resumes_sees_each_event_once_while_a_writer_runs() {
    const UNITS: usize = 400;
    let (server, answer) = begin(dev());
    let address = server.address;
    let writing = std::thread::spawn(move || {
        let mut client = Client::connect(address);
        (0..UNITS).map(|number| record(&mut client, &format!("unit {number}"))).collect::<Vec<_>>()
    });
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    let mut turn = 0;
    while seen.len() < UNITS {
        turn += 1;
        // Resumes in each of the three ways, after one, two, ... events.
        let after =
            format!("{}?after={cursor}", url(&answer, "sse_url").split('?').next().unwrap());
        let take = (turn % 29 + 1).min(UNITS - seen.len());
        if turn % 3 == 0 {
            let ws = url(&answer, "websocket_url").split('?').next().unwrap();
            let mut socket = Socket::open(address, &format!("{ws}?after={cursor}"), &[]);
            for _ in 0..take {
                let Frame::Text(push) = socket.next() else { continue };
                seen.push(push["memory_unit_id"].as_str().unwrap().to_owned());
                cursor = push["cursor"].as_str().unwrap().to_owned();
            }
            continue;
        }
        let header = [("last-event-id", cursor.as_str())];
        let mut events = match turn {
            1 => Events::open(address, url(&answer, "sse_url"), &[]),
            _ if turn % 3 == 1 => Events::open(address, url(&answer, "sse_url"), &header),
            _ => Events::open(address, &after, &[]),
        };
        for _ in 0..take {
            let event = events.next().unwrap();
            seen.push(unit(&event));
            cursor = event.id;
        }
    }
    assert_eq!(seen, writing.join().unwrap());
}

#[test]
fn a_subscriber_that_never_reads_is_cut_off_and_resumes_without_a_gap() {
    let write_timeout = Duration::from_millis(200);
    let (server, answer) = begin(Setup { write_timeout, ..dev() });
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &[]);
    let field = server.fields.opened()[0].clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // More than the sockets of both sides hold.
    let text = "a sentence that is about as long as what a push carries of a unit ".repeat(4);
    let recorded = runtime.block_on(async {
        let mut recorded = Vec::new();
        for batch in 0..40 {
            let one = |number: usize| {
                let payload = committed(&format!("{batch}-{number} {text}"));
                let (payload, _) = quipu_wire::akashik::RecordPayload::parse(payload).unwrap();
                let message = quipu_core::Message {
                    id: format!("{batch}-{number}"),
                    agent: "writer".to_owned(),
                    session: None,
                    epoch: 0,
                    authority: 10,
                    own_key: true,
                    key: None,
                };
                let field = Arc::clone(&field);
                tokio::spawn(async move { field.record(message, payload).await.unwrap() })
            };
            let sent: Vec<_> = (0..500).map(one).collect();
            for one in sent {
                let unit = one.await.unwrap();
                recorded.push((unit.epoch, unit.memory_unit_id));
            }
        }
        recorded.sort_unstable();
        recorded
    });
    server.wait_for_streams(0);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    while let Some(event) = events.next() {
        seen.push(unit(&event));
        cursor = event.id;
    }
    assert!(seen.len() < recorded.len(), "it was cut off");
    let mut events =
        Events::open(server.address, url(&answer, "sse_url"), &[("last-event-id", &cursor)]);
    while seen.len() < recorded.len() {
        seen.push(unit(&events.next().unwrap()));
    }
    let expected: Vec<String> = recorded.into_iter().map(|(_, unit)| unit).collect();
    assert!(seen == expected, "each once, in order");
}

#[test]
fn a_stop_ends_streams_with_a_last_word_and_a_restart_takes_them_up_again() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let (mut server, answer) = begin(Setup { engine: Arc::clone(&engine), ..dev() });
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &[]);
    let mut socket = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    record(&mut server.client(), "before");
    let before = events.next().unwrap();
    assert_eq!(socket.next(), Frame::Text(before.data.clone()));
    server.stop();
    let end = events.next().unwrap();
    assert_eq!((end.event.as_str(), &end.data["reason"]), ("end", &json!("shutdown")));
    assert_eq!(events.next(), None);
    let Frame::Close(code, reason) = socket.next() else { panic!("no close frame") };
    assert_eq!((code, reason.split(';').next().unwrap()), (1001, "shutdown"));
    drop(socket);
    server.join();

    let server = TestServer::with(Setup { engine, ..dev() });
    let mut client = server.client();
    let list = client.say("reader", "/v1/subscribe", &json!({"action": "list"})).json();
    assert_eq!(list["subscriptions"], json!([answer["subscription"]]));
    let after = record(&mut client, "after");
    let mut events =
        Events::open(server.address, url(&answer, "sse_url"), &[("last-event-id", &end.id)]);
    assert_eq!(unit(&events.next().unwrap()), after);
}

#[test]
fn pushes_are_for_the_subscriptions_agent_alone() {
    let server = TestServer::start();
    let operator = server.key(10);
    let own = server.key_for(KeyAgent::Named("reader".to_owned()), 2, None);
    let other = server.key_for(KeyAgent::Named("writer".to_owned()), 10, None);
    let weak = server.key_for(KeyAgent::Named("reader".to_owned()), 1, None);
    let mut client = server.client().with_key(&operator);
    client.post("/v1/register", &register("reader"));
    client.post("/v1/register", &register("writer"));
    let answer = subscribe(&mut client, "reader", &json!({"events": ["memory.recorded"]}));
    for kind in ["sse_url", "websocket_url"] {
        let path = url(&answer, kind);
        let ask = |key: Option<&str>| {
            let mut client = server.client();
            if let Some(key) = key {
                client = client.with_key(key);
            }
            let reply = client.get(path);
            (reply.status, reply.code())
        };
        assert_eq!(ask(None), (401, "UNAUTHENTICATED".to_owned()));
        assert_eq!(ask(Some(&other)), (404, "UNIT_NOT_FOUND".to_owned()));
        assert_eq!(ask(Some(&weak)), (403, "INSUFFICIENT_AUTHORITY".to_owned()));
    }
    for key in [&own, &operator] {
        let key = format!("Bearer {key}");
        let header = [("authorization", key.as_str())];
        assert_eq!(Events::open(server.address, url(&answer, "sse_url"), &header).status, 200);
        let path = url(&answer, "websocket_url");
        assert_eq!(Socket::open(server.address, path, &header).status, 101);
    }
    let unknown = server.client().with_key(&own).get("/v1/subscriptions/sub-1/events");
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "UNIT_NOT_FOUND"));
    let id = answer["subscription"]["id"].as_str().unwrap();
    let mut client = server.client().with_key(&own);
    let bad = client.get(&format!("/v1/subscriptions/{id}/events?after=soon"));
    assert_eq!((bad.status, bad.code().as_str()), (400, "INVALID_PAYLOAD"));
    let plain = client.get(&format!("/v1/subscriptions/{id}/ws"));
    assert_eq!((plain.status, plain.code().as_str()), (400, "INVALID_PAYLOAD"));
}

#[test]
fn a_stream_ends_when_its_subscription_does() {
    let (server, answer) = begin(dev());
    let mut events = Events::open(server.address, url(&answer, "sse_url"), &[]);
    let mut socket = Socket::open(server.address, url(&answer, "websocket_url"), &[]);
    let id = &answer["subscription"]["id"];
    let end = json!({"action": "unsubscribe", "subscription": {"id": id}});
    let reply = server.client().say("reader", "/v1/subscribe", &end).json();
    assert_eq!((&reply["status"], &reply["subscription"]["id"]), (&json!("ok"), id));
    assert_eq!(events.next().unwrap().data["reason"], "unsubscribed");
    let Frame::Close(code, _) = socket.next() else { panic!("no close frame") };
    assert_eq!(code, 1000);
    let again = server.client().say("reader", "/v1/subscribe", &end).json();
    assert_eq!(again["status"], "not_found");
}

#[test]
fn relevance_and_debounce_hold_over_the_wire() {
    let server = TestServer::with(dev());
    let mut client = server.client();
    let captain = json!({"id": "reader", "role": "captain", "interests": ["harbour fees"]});
    client.post("/v1/register", &captain);
    client.post("/v1/register", &register("writer"));
    let relevant = json!({"events": ["memory.recorded"], "min_relevance": 0.5});
    let relevant = subscribe(&mut client, "reader", &relevant);
    let debounced =
        json!({"events": ["memory.recorded", "memory.superseded"], "debounce_ms": 3_600_000});
    let debounced = subscribe(&mut client, "reader", &debounced);
    let first = record(&mut client, "the weather is fine");
    let fees = record(&mut client, "the harbour raised its fees");
    let mut newer = committed("the weather turns");
    newer["relations"] = json!([{"type": "supersedes", "target_id": first}]);
    client.say("writer", "/v1/record", &newer);
    let last = record(&mut client, "harbour fees are lower again");

    let mut events = Events::open(server.address, url(&relevant, "sse_url"), &[]);
    let kept: Vec<String> = (0..2).map(|_| unit(&events.next().unwrap())).collect();
    assert_eq!(kept, [fees, last.clone()]);
    let mut events = Events::open(server.address, url(&debounced, "sse_url"), &[]);
    let mut told = Vec::new();
    loop {
        let event = events.next().unwrap();
        told.push(event.event.clone());
        if unit(&event) == last {
            break;
        }
    }
    // That the first unit was superseded is the second thing about it within the hour.
    assert_eq!(told, vec!["memory.recorded"; 4]);
}
