//! Vaults and the webhook over HTTP: what goes in as a secret never comes out, and who does not know it is told
//! nothing.

use std::sync::Arc;

use quipu_log::SqliteEngine;
use quipu_server::secrets::keys::KeyAgent;
use ring::hmac;
use serde_json::{Value, json};

use super::{
    actors::Actor,
    bearer, refusal, refused,
    worker::{alice, ask, done, id, persona},
};
use crate::support::{Client, Reply, Setup, TestServer};

const SECRET: &str = "canary-webhook-secret";
const HOOK: &str = "/v1/connectors/connector_webhook";

/// The signature of these bytes.
fn signature_of(signed: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed);
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// The signature of a delivery that is sent now.
fn signature(id: &str, body: &[u8]) -> Signed {
    signature_at(id, seconds(0), body)
}

/// So many seconds from now, since 1970.
fn seconds(later: i64) -> i64 {
    let now = super::provider::now();
    i64::try_from(now).unwrap() + later
}

struct Signed {
    time: String,
    signature: String,
}

fn signature_at(id: &str, time: i64, body: &[u8]) -> Signed {
    let signed = [format!("{id}.{time}.").as_bytes(), body].concat();
    Signed { time: time.to_string(), signature: signature_of(&signed) }
}

/// Delivers with this signature, without a key.
fn deliver(server: &TestServer, id: &str, body: &[u8], signed: &Signed) -> Reply {
    let headers = [
        ("x-delivery-id", id),
        ("x-delivery-time", signed.time.as_str()),
        ("x-signature-256", signed.signature.as_str()),
    ];
    server.client().post_raw(&format!("{HOOK}/deliveries"), &headers, body)
}

fn armed(client: &mut Client) -> String {
    let persona = persona(client);
    let body = json!({"secret": SECRET, "target_persona_id": persona});
    let hook = done(client, "PATCH", HOOK, &body);
    assert_eq!((&hook["status"], &hook["auth"]["secret_set"]), (&json!("ACTIVE"), &json!(true)));
    persona
}

#[test]
fn the_webhook_is_there_from_the_start_and_takes_nothing_without_a_secret() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let list = client.get("/v1/connectors").json();
    let hook = &list["data"][0];
    assert_eq!(hook["object"], "connector");
    assert_eq!(hook["status"], "PAUSED");
    assert_eq!(hook["event_kinds"], json!(["webhook.delivery"]));
    assert!(hook["webhook"].is_object());
    assert_eq!(*hook, client.get(HOOK).json());
    let reply = deliver(&server, "1", b"{}", &signature("1", b"{}"));
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
    let reply = ask(&mut client, "PATCH", HOOK, &json!({"status": "ACTIVE"}));
    assert_eq!(refusal(&reply), refused(409, "conflict"));
    assert_eq!(client.get("/v1/connectors?workspace_id=other").json()["data"], json!([]));
}

#[test]
fn a_repeated_delivery_is_answered_as_the_first_time_and_becomes_no_other_task() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let persona = armed(&mut client);
    let body = br#"{"ref":"main"}"#;
    let signed = signature("delivery-1", body);
    let first = deliver(&server, "delivery-1", body, &signed);
    assert_eq!(first.status, 202, "{}", first.text());
    let id = first.json()["task_id"].as_str().unwrap().to_owned();
    let task = client.get(&format!("/v1/tasks/{id}")).json();
    assert_eq!(task["persona_id"], persona);
    assert_eq!(task["input"]["parts"][0]["value"], json!({"ref": "main"}));
    let later = signature_at("delivery-1", seconds(7), body);
    for signed in [&signed, &signed, &later] {
        let again = deliver(&server, "delivery-1", body, signed);
        assert_eq!((again.status, again.text()), (202, first.text()));
    }
    let other = deliver(&server, "delivery-2", body, &signature("delivery-2", body)).json();
    assert_ne!(other["task_id"], id.as_str());
    let changed = br#"{"ref":"other"}"#;
    let reply = deliver(&server, "delivery-1", changed, &signature("delivery-1", changed));
    assert_eq!(refusal(&reply), refused(409, "conflict"), "another body under the same id");
    let events = client.get("/v1/events?limit=200").json();
    let kinds: Vec<&str> =
        events["data"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect();
    let count = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    assert_eq!(count("connector.delivery_received"), 2, "{kinds:?}");
    assert_eq!(count("connector.delivery_deduped"), 1, "noted once, however often it comes");
    assert_eq!(count("connector.task_submitted"), 2);
}

#[test]
fn a_delivery_that_somebody_saw_cannot_be_sent_as_another_one_or_later() {
    let server = TestServer::start();
    armed(&mut alice(&server));
    let seen = signature("seen", b"{}");
    assert_eq!(deliver(&server, "seen", b"{}", &seen).status, 202);
    let reply = deliver(&server, "another", b"{}", &seen);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "under another id");
    let moved = Signed { time: seconds(60).to_string(), ..signature("seen", b"{}") };
    let reply = deliver(&server, "seen", b"{}", &moved);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "with another time");
    for later in [-310, 310] {
        let reply = deliver(&server, "old", b"{}", &signature_at("old", seconds(later), b"{}"));
        assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{later} seconds off");
    }
    let of_body_alone = signature_of(b"{}");
    let headers = [("x-delivery-id", "bare"), ("x-signature-256", of_body_alone.as_str())];
    let reply = server.client().post_raw(&format!("{HOOK}/deliveries"), &headers, b"{}");
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "the body alone is signed");
}

#[test]
fn a_delivery_is_known_again_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let open = || {
        let options = quipu_log::SqliteOptions::default();
        let engine = Arc::new(SqliteEngine::open(data.path(), options).unwrap());
        TestServer::with_directory(Setup { engine, ..Setup::default() }, data.path())
    };
    let mut server = open();
    armed(&mut alice(&server));
    let signed = signature("kept", b"{}");
    let first = deliver(&server, "kept", b"{}", &signed);
    assert_eq!(first.status, 202, "{}", first.text());
    server.stop();
    server.join();
    drop(server);
    let again = deliver(&open(), "kept", b"{}", &signed);
    assert_eq!((again.status, again.text()), (202, first.text()));
}

#[test]
fn the_same_delivery_at_one_time_becomes_one_task() {
    let server = TestServer::start();
    armed(&mut alice(&server));
    let tasks: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
        let send = || {
            let reply = deliver(&server, "same", b"{}", &signature("same", b"{}"));
            assert_eq!(reply.status, 202, "{}", reply.text());
            reply.json()["task_id"].as_str().unwrap().to_owned()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(tasks.len(), 1);
}

#[test]
fn who_does_not_know_the_secret_is_told_nothing() {
    let server = TestServer::start();
    armed(&mut alice(&server));
    let good = signature("1", b"{}");
    let mut flipped = good.signature.clone().into_bytes();
    *flipped.last_mut().unwrap() ^= 1;
    let flipped = String::from_utf8(flipped).unwrap();
    let unprefixed = good.signature.strip_prefix("sha256=").unwrap();
    for wrong in ["", "sha256=", "sha1=00", "sha256=zz", &flipped, unprefixed] {
        let signed = Signed { signature: wrong.to_owned(), time: good.time.clone() };
        let reply = deliver(&server, "1", b"{}", &signed);
        assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{wrong}");
        assert!(!reply.text().contains("canary"));
    }
    let reply = deliver(&server, "1", b"{ }", &good);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "another body");
    let headers = [
        ("x-delivery-id", "1"),
        ("x-delivery-time", good.time.as_str()),
        ("x-signature-256", good.signature.as_str()),
        ("quipu-field", "elsewhere"),
    ];
    let reply = server.client().post_raw(&format!("{HOOK}/deliveries"), &headers, b"{}");
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "a Field that is not there");
    let path = "/v1/connectors/connector_none/deliveries";
    let reply = server.client().post_raw(path, &headers[..3], b"{}");
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "another connector");
}

#[test]
fn a_signed_delivery_that_is_no_json_or_too_large_is_refused() {
    let server = TestServer::start();
    let mut client = alice(&server);
    armed(&mut client);
    for garbage in [&b"\xff\x00"[..], b"", b"{\"a\":1,\"a\":2}"] {
        let reply = deliver(&server, "g", garbage, &signature("g", garbage));
        assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    }
    let huge = vec![b'1'; quipu_wire::limits::REQUEST_BYTES_MAX + 1];
    let reply = deliver(&server, "h", &huge, &signature("h", b""));
    assert_eq!(refusal(&reply), refused(413, "payload_too_large"));
    done(&mut client, "PATCH", HOOK, &json!({"status": "PAUSED"}));
    let reply = deliver(&server, "p", b"{}", &signature("p", b"{}"));
    assert_eq!(refusal(&reply), refused(409, "conflict"));
}

#[test]
fn a_connector_is_pointed_only_where_its_owner_takes_part() {
    let server = TestServer::start();
    let session = Actor::agent(&server, "ann", 5).session();
    let mut chief = Actor::agent(&server, "chief", 8);
    let to = json!({"secret": SECRET, "target_session_id": session});
    let refused = chief.refused("PATCH", HOOK, &to);
    assert_eq!(refused, (403, "permission_denied".to_owned(), "target_session_id".to_owned()));
    chief.done("POST", &format!("/v1/sessions/{session}/join"), &json!({}));
    chief.done("PATCH", HOOK, &to);
    // What stays as it is, is not asked again.
    let leave = json!({"action": "leave", "session_id": session});
    let key = server.key_for(KeyAgent::Named("chief".to_owned()), 8, None);
    assert_eq!(server.client().with_key(&key).say("chief", "/v1/session", &leave).status, 200);
    chief.done("PATCH", HOOK, &json!({"status": "PAUSED"}));
}

#[test]
fn a_connector_is_changed_with_authority_and_to_what_is_there() {
    let server = TestServer::start();
    let mut low = bearer(&server, &server.key(7)).with("akashik-agent", "bob");
    let body = json!({"secret": SECRET});
    assert_eq!(refusal(&ask(&mut low, "PATCH", HOOK, &body)), refused(403, "permission_denied"));
    let mut client = alice(&server);
    for (body, status, code, param) in [
        (json!({"secret": "short"}), 400, "invalid_request", "secret"),
        (json!({"status": "FAILED"}), 400, "invalid_request", "status"),
        (json!({"target_session_id": "s"}), 404, "resource_not_found", "target_session_id"),
        (json!({"target_persona_id": "p"}), 404, "resource_not_found", "target_persona_id"),
    ] {
        let reply = ask(&mut client, "PATCH", HOOK, &body);
        assert_eq!(refusal(&reply), refused(status, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param);
    }
    let reply = ask(&mut client, "PATCH", "/v1/connectors/other", &body);
    assert_eq!(refusal(&reply), refused(404, "resource_not_found"));
}

#[test]
fn a_vault_shows_the_names_of_its_secrets_and_never_a_value() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let body = json!({"provider": "quipu", "capabilities": ["oauth_refresh"]});
    let vault = done(&mut client, "POST", "/v1/vaults", &body);
    assert_eq!((&vault["object"], &vault["workspace_id"]), (&json!("vault"), &Value::Null));
    let path = format!("/v1/vaults/{}", id(&vault));
    let secret = json!({"value": {"token": "canary-vault-value"}});
    let put = ask(&mut client, "PUT", &format!("{path}/secrets/github.token"), &secret);
    assert_eq!(put.status, 200, "{}", put.text());
    for text in [put.text(), client.get(&path).text(), client.get("/v1/vaults").text()] {
        assert!(text.contains("github.token") && !text.contains("canary"), "{text}");
    }
    for (path, body, status) in [
        (format!("{path}/secrets/bad%20name"), &secret, 400),
        (format!("{path}/secrets/x"), &json!({"valeu": "canary"}), 400),
        ("/v1/vaults/vault_none/secrets/x".to_owned(), &secret, 404),
    ] {
        let reply = ask(&mut client, "PUT", &path, body);
        assert_eq!(reply.status, status, "{path}");
        assert!(!reply.text().contains("canary"), "{}", reply.text());
    }
    let reply = client.get(&format!("{path}/secrets/github.token"));
    assert_ne!(reply.status, 200, "there is no way to read one");
}
