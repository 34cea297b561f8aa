//! Artifacts over HTTP.

use quipu_server::HarnOptions;
use quipu_wire::harn::Sha256;
use serde_json::json;

use super::{
    refusal, refused,
    worker::{alice, ask, completed, done, id},
};
use crate::support::{Setup, TestServer};

#[test]
fn content_goes_in_as_bytes_and_comes_out_as_bytes_to_be_saved() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let digest = Sha256::of(b"<script>\x00\xff").bare();
    let body = json!({
        "kind": "file", "mime_type": "text/html", "visibility": "public", "sha256": digest,
    });
    let reply = ask(&mut client, "POST", "/v1/artifacts", &body);
    assert_eq!((reply.status, &reply.json()["object"]), (201, &json!("artifact")));
    let path = format!("/v1/artifacts/{}/content", id(&reply.json()));
    assert_eq!(refusal(&client.get(&path)), refused(404, "resource_not_found"));
    let html = [("content-type", "text/html")];
    let wrong = client.send("PUT", &path, &html, Some(b"<script>"));
    assert_eq!(refusal(&wrong), refused(409, "conflict"));
    let kept = client.send("PUT", &path, &html, Some(b"<script>\x00\xff"));
    assert_eq!((kept.status, &kept.json()["sha256"]), (200, &json!(digest)));
    let read = client.get(&path);
    assert_eq!(read.body, b"<script>\x00\xff");
    assert_eq!(read.header("content-type"), Some("application/octet-stream"));
    assert_eq!(read.header("content-disposition"), Some("attachment"));
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn content_is_taken_away_by_who_may_and_a_descriptor_stays() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let body = json!({"kind": "file", "mime_type": "text/plain", "visibility": "public"});
    let artifact = id(&done(&mut client, "POST", "/v1/artifacts", &body));
    let path = format!("/v1/artifacts/{artifact}/content");
    assert_eq!(client.send("PUT", &path, &[], Some(b"secret")).status, 200);
    let mut weak = super::bearer(&server, &server.key(5)).with("akashik-agent", "bob");
    let refusal_of_others = weak.send("DELETE", &path, &[], None);
    assert_eq!(refusal(&refusal_of_others), refused(403, "permission_denied"));
    let left = client.send("DELETE", &path, &[], None);
    assert_eq!((left.status, &left.json()["id"]), (200, &json!(artifact)));
    assert_eq!(left.json()["metadata"]["content_redacted"], json!({"by": "alice"}));
    assert_eq!(refusal(&client.get(&path)), refused(404, "resource_not_found"));
    let none = client.send("DELETE", "/v1/artifacts/artifact_x/content", &[], None);
    assert_eq!(refusal(&none), refused(404, "resource_not_found"));
}

#[test]
fn the_largest_content_is_the_operators_to_say() {
    let harn = HarnOptions { content_bytes_max: Some(8), ..HarnOptions::default() };
    let server = TestServer::with(Setup { harn, ..Setup::default() });
    let mut client = alice(&server);
    let body = json!({"kind": "file", "mime_type": "text/plain", "visibility": "public"});
    let artifact = id(&done(&mut client, "POST", "/v1/artifacts", &body));
    let path = format!("/v1/artifacts/{artifact}/content");
    let reply = client.send("PUT", &path, &[], Some(b"123456789"));
    assert_eq!(refusal(&reply), refused(413, "payload_too_large"));
    assert_eq!(client.send("PUT", &path, &[], Some(b"12345678")).status, 200);
}

#[test]
fn content_beyond_the_limit_is_refused_and_the_connection_lives_on() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let body = json!({"kind": "file", "mime_type": "text/plain", "visibility": "public"});
    let artifact = id(&done(&mut client, "POST", "/v1/artifacts", &body));
    let path = format!("/v1/artifacts/{artifact}/content");
    let huge = vec![b'x'; quipu_harness::CONTENT_BYTES_MAX + 1];
    let reply = client.send("PUT", &path, &[], Some(&huge));
    assert_eq!(refusal(&reply), refused(413, "payload_too_large"));
    assert_eq!(client.get(&format!("/v1/artifacts/{artifact}")).status, 200);
}

#[test]
fn an_artifact_is_registered_once_under_an_idempotency_key() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let body = json!({"kind": "log", "mime_type": "text/plain", "visibility": "public"});
    let send = |client: &mut crate::support::Client, body: &serde_json::Value| {
        let key = [("idempotency-key", "one")];
        client.post_raw("/v1/artifacts", &key, body.to_string().as_bytes())
    };
    let first = send(&mut client, &body);
    let again = send(&mut client, &body);
    assert_eq!(id(&first.json()), id(&again.json()));
    let mut other = body;
    other["mime_type"] = json!("text/html");
    assert_eq!(refusal(&send(&mut client, &other)), refused(409, "idempotency_key_reused"));
    assert_eq!(client.get("/v1/artifacts").json()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn bad_registrations_name_the_member() {
    let server = TestServer::start();
    let mut client = alice(&server);
    for (member, value) in [
        ("kind", json!("canary")),
        ("visibility", json!(null)),
        ("sha256", json!("sha256:00")),
        ("mime_type", json!("")),
        ("metadata", json!([])),
    ] {
        let mut body = json!({"kind": "log", "mime_type": "text/plain", "visibility": "public"});
        body[member] = value;
        let reply = ask(&mut client, "POST", "/v1/artifacts", &body);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{member}");
        assert_eq!(reply.json()["error"]["param"], member);
        assert!(!reply.text().contains("canary"));
    }
}

#[test]
fn the_event_log_of_a_receipt_can_be_downloaded_and_has_its_digest() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let task = completed(&mut client);
    let receipt = client.get(&format!("/v1/receipts/{}", task["receipt_id"].as_str().unwrap()));
    let log = receipt.json()["wire"]["payload"]["replay_input"]["materials"][0].clone();
    let artifact = log["uri"].as_str().unwrap().strip_prefix("artifact://").unwrap();
    let read = client.get(&format!("/v1/artifacts/{artifact}/content"));
    assert_eq!(Sha256::of(&read.body).to_string(), log["sha256"].as_str().unwrap());
    let listed = client.get(&format!("/v1/artifacts?task_id={}", id(&task))).json();
    let listed = listed["data"].as_array().unwrap();
    assert!(listed.iter().any(|each| each["id"] == artifact), "{listed:?}");
}
