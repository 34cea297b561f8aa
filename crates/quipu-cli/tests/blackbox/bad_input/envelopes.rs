//! Envelopes that lie: about their keys, their epoch, their sender, or whether they were sent before.

use std::sync::Barrier;

use serde_json::{Value, json};

use super::victim::{Victim, record_with, start};
use crate::support::{Client, Message, Settings, draft, finding, refused, scope};

#[test]
fn an_envelope_with_a_wrong_key_or_value_is_refused_and_the_key_is_named() {
    let mut v = start();
    let whole = || Message::new("RECORD", "agent", finding("x"));
    for (key, wrong) in [
        ("protocol", json!("other")),
        ("protocol", json!(1)),
        ("id", json!("")),
        ("id", json!(5)),
        ("id", Value::Null),
        ("operation", json!("SING")),
        ("operation", json!(["RECORD"])),
        ("operation", json!("ATTUNE")),
        ("agent_id", json!("")),
        ("agent_id", json!({})),
        ("session_id", json!(7)),
        ("session_id", json!("")),
        ("epoch", json!("1")),
        ("epoch", json!(-1)),
        ("epoch", json!(0.5)),
        ("epoch", Value::Null),
        ("payload", json!([])),
        ("payload", json!("x")),
        ("payload", Value::Null),
        ("token", json!("secret")),
    ] {
        let mut envelope = whole().envelope;
        envelope[key] = wrong.clone();
        let message = refused(&v.post("/v1/record", envelope.to_string()), 400, "INVALID_PAYLOAD");
        assert!(message.contains(key), "{key} {wrong}: {message}");
    }
    for key in ["version", "id", "operation", "agent_id", "session_id", "epoch", "payload"] {
        let mut envelope = whole().envelope;
        envelope.as_object_mut().unwrap().remove(key);
        let message = refused(&v.post("/v1/record", envelope.to_string()), 400, "INVALID_PAYLOAD");
        assert!(message.contains(&format!("envelope.{key}")), "{message}");
    }
    let other = whole().with("version", "9.9.9");
    let message = refused(&v.send(&other), 400, "UNSUPPORTED_VERSION");
    assert!(message.contains("9.9.9"), "{message}");
    v.unharmed(1);
}

#[test]
fn an_epoch_that_is_impossible_or_too_far_ahead_is_refused_and_moves_no_clock() {
    let mut v = start();
    let now = |client: &mut Client| client.get("/v1/field/status").ok()["epoch"].as_u64().unwrap();
    let before = now(&mut v.client);
    for epoch in [1 << 60, u64::MAX, (1 << 53) - 1, 1 << 53, before + 1_000_001] {
        for operation in ["RECORD", "ATTUNE", "DETECT", "REGISTER", "DEREGISTER"] {
            let payload = match operation {
                "RECORD" => finding("far"),
                "ATTUNE" => json!({"scope": scope(1)}),
                "DETECT" => json!({"mode": "list"}),
                "REGISTER" => json!({"id": "far", "role": "r"}),
                _ => json!({"agent_id": "agent"}),
            };
            let answer = v.send(&Message::new(operation, "agent", payload).with("epoch", epoch));
            let message = refused(&answer, 400, "INVALID_PAYLOAD");
            assert!(message.contains("epoch"), "{operation} {epoch}: {message}");
        }
    }
    for header in ["1152921504606846976", "-1", "1.5", "soon", ""] {
        let mut client = v.server.client();
        client = client.with_header("akashik-agent", "agent").with_header("akashik-epoch", header);
        let answer = client.post("/v1/record", finding("far").to_string());
        let message = refused(&answer, 400, "INVALID_PAYLOAD");
        assert!(message.to_lowercase().contains("epoch"), "{header}: {message}");
    }
    assert!(now(&mut v.client) <= before + 64, "no refused epoch was taken over");
    let units = v.client.get("/v1/field/status").ok()["units"]["total"].as_u64().unwrap();
    v.unharmed(units);
}

#[test]
fn an_epoch_at_the_end_of_the_allowed_jump_is_taken_over() {
    let mut v = start();
    let epoch = v.client.get("/v1/field/status").ok()["epoch"].as_u64().unwrap() + 1_000;
    let message = Message::new("RECORD", "agent", finding("far")).with("epoch", epoch);
    assert_eq!(v.send(&message).ok()["epoch"], epoch + 1);
    let ahead = Message::new("ATTUNE", "agent", json!({"scope": scope(9)}));
    let seen = v.send(&ahead.with("epoch", epoch + 500)).ok();
    let told = seen["epoch"].as_u64().unwrap();
    assert_eq!(told, epoch + 501, "a read takes it over and ticks once");
    v.unharmed(2);
}

#[test]
fn agents_that_never_registered_can_do_nothing() {
    let mut v = start();
    for (operation, payload) in [
        ("RECORD", finding("x")),
        ("RECORD", draft("x")),
        ("ATTUNE", json!({"scope": scope(1)})),
        ("DETECT", json!({"mode": "list"})),
        ("DEREGISTER", json!({"agent_id": "agent"})),
    ] {
        let answer = v.client.operate(operation, "nobody", payload);
        let message = refused(&answer, 403, "AGENT_NOT_REGISTERED");
        assert!(message.contains("nobody"), "{message}");
        assert_eq!(answer.json()["recoverable"], operation != "DEREGISTER");
    }
    v.unharmed(1);
}

#[test]
fn the_same_message_twice_is_done_once_and_answered_the_same() {
    let mut v = start();
    let message = Message::new("RECORD", "agent", finding("once")).with("id", "msg-once");
    let first = v.send(&message).ok();
    for _ in 0..3 {
        assert_eq!(v.send(&message).ok(), first);
    }
    let other = Message::new("RECORD", "agent", finding("another")).with("id", "msg-once");
    let answer = v.send(&other);
    let text = refused(&answer, 409, "MESSAGE_ID_REUSED");
    assert!(text.contains("msg-once"), "{text}");
    v.client.register("second", "tester");
    let elsewhere = Message::new("RECORD", "second", finding("another")).with("id", "msg-once");
    assert_ne!(v.send(&elsewhere).ok()["memory_unit_id"], first["memory_unit_id"]);
    let joining = Message::new("REGISTER", "third", json!({"id": "third", "role": "r"}));
    let joined = v.send(&joining).ok();
    assert_eq!(v.send(&joining).ok(), joined, "REGISTER sent again is not AGENT_ID_TAKEN");
    v.unharmed(3);
}

#[test]
fn the_same_message_twice_is_done_once_across_a_crash() {
    let v = start();
    let message = Message::new("RECORD", "agent", finding("once")).with("id", "msg-once");
    let first = v.server.client().send(&message).ok();
    let Victim { server, data, .. } = v;
    server.kill();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    assert_eq!(client.send(&message).ok(), first);
    Victim { client, server, data }.unharmed(2);
}

#[test]
fn the_same_message_from_32_connections_at_once_is_done_once() {
    let v = start();
    let message = Message::new("RECORD", "agent", finding("once")).with("id", "msg-once");
    let (together, address) = (Barrier::new(32), v.server.address);
    let answers: Vec<Value> = std::thread::scope(|threads| {
        let sending: Vec<_> = (0..32)
            .map(|_| {
                threads.spawn(|| {
                    let mut client = Client::connect(address).unwrap();
                    together.wait();
                    client.send(&message).ok()
                })
            })
            .collect();
        sending.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    v.unharmed(2);
}

#[test]
fn nul_and_control_characters_in_ids_are_refused_and_so_are_ids_too_long() {
    let mut v = start();
    let long = "x".repeat(257);
    for bad in ["a\u{0}b", "a\nb", "a\u{1b}b", "\u{7f}", "a\u{85}b", &long] {
        for key in ["id", "agent_id", "session_id"] {
            let message = Message::new("RECORD", "agent", finding("x")).with(key, bad);
            let text = refused(&v.send(&message), 400, "INVALID_PAYLOAD");
            assert!(text.contains(&format!("envelope.{key}")), "{text}");
        }
        let message = record_with(|payload| payload["intent"]["task_id"] = json!(bad));
        let text = refused(&v.send(&message), 400, "INVALID_PAYLOAD");
        assert!(text.contains("payload.intent.task_id"), "{text}");
        let relation = json!([{"type": "informs", "target_id": bad}]);
        let message = record_with(|payload| payload["relations"] = relation);
        let text = refused(&v.send(&message), 400, "INVALID_PAYLOAD");
        assert!(text.contains("payload.relations[0].target_id"), "{text}");
        for (id, role, path) in [(bad, "r", "payload.id"), ("new", bad, "payload.role")] {
            let answer = v.client.operate("REGISTER", "new", json!({"id": id, "role": role}));
            assert!(refused(&answer, 400, "INVALID_PAYLOAD").contains(path));
        }
    }
    v.unharmed(1);
}
