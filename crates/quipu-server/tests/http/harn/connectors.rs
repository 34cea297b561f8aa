//! Vaults and the webhook over HTTP: what goes in as a secret never comes out, and who does not know it is told
//! nothing.

use ring::hmac;
use serde_json::{Value, json};

use super::{
    bearer, refusal, refused,
    worker::{alice, ask, done, id, persona},
};
use crate::support::{Client, Reply, TestServer};

const SECRET: &str = "canary-webhook-secret";
const HOOK: &str = "/v1/connectors/connector_webhook";

fn signature(body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), body);
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// Delivers with this signature, without a key.
fn deliver(server: &TestServer, id: &str, body: &[u8], signature: &str) -> Reply {
    let headers = [("x-delivery-id", id), ("x-signature-256", signature)];
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
    let reply = deliver(&server, "1", b"{}", &signature(b"{}"));
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
    let reply = ask(&mut client, "PATCH", HOOK, &json!({"status": "ACTIVE"}));
    assert_eq!(refusal(&reply), refused(409, "conflict"));
    assert_eq!(client.get("/v1/connectors?workspace_id=other").json()["data"], json!([]));
}

#[test]
fn a_signed_delivery_becomes_one_task_however_often_it_is_sent() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let persona = armed(&mut client);
    let body = br#"{"ref":"main"}"#;
    let first = deliver(&server, "delivery-1", body, &signature(body));
    assert_eq!(first.status, 202, "{}", first.text());
    let first = first.json();
    assert_eq!(first["deduplicated"], false);
    let task = client.get(&format!("/v1/tasks/{}", first["task_id"].as_str().unwrap())).json();
    assert_eq!(task["persona_id"], persona);
    assert_eq!(task["input"]["parts"][0]["value"], json!({"ref": "main"}));
    let again = deliver(&server, "delivery-1", body, &signature(body));
    assert_eq!(again.status, 200);
    assert_eq!(again.json()["task_id"], first["task_id"]);
    let other = deliver(&server, "delivery-2", body, &signature(body)).json();
    assert_ne!(other["task_id"], first["task_id"]);
    let events = client.get("/v1/events?limit=200").json();
    let kinds: Vec<&str> =
        events["data"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect();
    let count = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    assert_eq!(count("connector.delivery_received"), 2, "{kinds:?}");
    assert_eq!(count("connector.delivery_deduped"), 1);
    assert_eq!(count("connector.task_submitted"), 2);
}

#[test]
fn the_same_delivery_at_one_time_becomes_one_task() {
    let server = TestServer::start();
    armed(&mut alice(&server));
    let tasks: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
        let send = || {
            let reply = deliver(&server, "same", b"{}", &signature(b"{}"));
            assert!([200, 202].contains(&reply.status), "{}", reply.text());
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
    let good = signature(b"{}");
    let mut flipped = good.clone().into_bytes();
    *flipped.last_mut().unwrap() ^= 1;
    let flipped = String::from_utf8(flipped).unwrap();
    let unprefixed = good.strip_prefix("sha256=").unwrap();
    for wrong in ["", "sha256=", "sha1=00", "sha256=zz", &flipped, unprefixed] {
        let reply = deliver(&server, "1", b"{}", wrong);
        assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{wrong}");
        assert!(!reply.text().contains("canary"));
    }
    let reply = deliver(&server, "1", b"{ }", &good);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "another body");
    let headers = [("x-signature-256", good.as_str()), ("quipu-field", "elsewhere")];
    let reply = server.client().post_raw(&format!("{HOOK}/deliveries"), &headers, b"{}");
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "a Field that is not there");
    let headers = [("x-signature-256", good.as_str())];
    let path = "/v1/connectors/connector_none/deliveries";
    let reply = server.client().post_raw(path, &headers, b"{}");
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "another connector");
}

#[test]
fn a_signed_delivery_that_is_no_json_or_too_large_is_refused() {
    let server = TestServer::start();
    let mut client = alice(&server);
    armed(&mut client);
    for garbage in [&b"\xff\x00"[..], b"", b"{\"a\":1,\"a\":2}"] {
        let reply = deliver(&server, "g", garbage, &signature(garbage));
        assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    }
    let huge = vec![b'1'; quipu_wire::limits::REQUEST_BYTES_MAX + 1];
    let reply = deliver(&server, "h", &huge, "sha256=00");
    assert_eq!(refusal(&reply), refused(413, "payload_too_large"));
    done(&mut client, "PATCH", HOOK, &json!({"status": "PAUSED"}));
    let reply = deliver(&server, "p", b"{}", &signature(b"{}"));
    assert_eq!(refusal(&reply), refused(409, "conflict"));
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
