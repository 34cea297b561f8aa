//! The way in: what is asked of every request, in which order, and as whom it is let in.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::json;

use super::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
use crate::support::TestServer;

const RUNTIME: &str = "/v1/runtime";

#[test]
fn a_request_without_a_version_or_with_a_foreign_one_is_426_and_learns_ours() {
    let server = TestServer::start();
    let key = server.key(10);
    let mut client = server.client().with_key(&key);
    let foreign = &[(VERSION, "agents-protocol-1900-01-01")][..];
    for headers in [&[][..], foreign, &[(VERSION, APRIL), (VERSION, APRIL)], &[(VERSION, "")]] {
        let reply = client.send("GET", RUNTIME, headers, None);
        assert_eq!(refusal(&reply), refused(426, "unsupported_protocol_version"), "{headers:?}");
        let error = &reply.json()["error"];
        assert_eq!(error["details"]["supported_versions"], json!([APRIL, OCTOBER]));
        assert_eq!(error["type"], "request_error");
    }
}

#[test]
fn both_versions_are_spoken_and_the_answer_names_the_one_that_was_asked_in() {
    let server = TestServer::start();
    let mut client = server.operator();
    for version in [APRIL, OCTOBER] {
        let reply = client.send("GET", RUNTIME, &[(VERSION, version)], None);
        assert_eq!((reply.status, &reply.json()["protocol_version"]), (200, &json!(version)));
    }
}

#[test]
fn the_version_is_judged_before_the_credential() {
    let server = TestServer::start();
    let reply = server.client().get(RUNTIME);
    assert_eq!(refusal(&reply).0, 426);
    assert_eq!(refusal(&stranger(&server).get(RUNTIME)).0, 401);
}

#[test]
fn whoever_has_no_credential_is_told_so_and_no_answer_repeats_one() {
    let server = TestServer::start();
    let key = server.key(10);
    let forged = format!("{}x", &key[..key.len() - 1]);
    for wrong in ["", "x", "quipu_", "a.b.c", forged.as_str()] {
        let reply = bearer(&server, wrong).get(RUNTIME);
        assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{wrong:?}");
        assert!(!reply.text().contains(&forged));
    }
    let reply = stranger(&server).get(RUNTIME);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"quipu\""));
    assert_eq!(reply.json()["error"]["type"], "auth_error");
    let basic = stranger(&server).with("authorization", &format!("Basic {key}"));
    assert_eq!(refusal(&{ basic }.get(RUNTIME)).0, 401);
}

#[test]
fn a_key_is_taken_as_bearer_or_as_an_api_key() {
    let server = TestServer::start();
    let key = server.key(2);
    assert_eq!(bearer(&server, &key).get(RUNTIME).status, 200);
    assert_eq!(stranger(&server).with("x-api-key", &key).get(RUNTIME).status, 200);
    assert_eq!(stranger(&server).with("x-api-key", "nothing").get(RUNTIME).status, 401);
    let both = bearer(&server, "nothing").with("x-api-key", &key);
    assert_eq!({ both }.get(RUNTIME).status, 401, "Authorization counts");
}

#[test]
fn without_keys_anybody_is_let_in() {
    let server = TestServer::dev();
    assert_eq!(stranger(&server).get(RUNTIME).status, 200);
    assert_eq!(bearer(&server, "whatever").get(RUNTIME).status, 200);
}

#[test]
fn a_key_speaks_for_its_own_agent_and_nobody_for_the_field() {
    let server = TestServer::start();
    let own = server.key_for(KeyAgent::Named("a".to_owned()), 4, None);
    let as_agent = |key: &str, agent: &str| {
        bearer(&server, key).send("GET", RUNTIME, &[("akashik-agent", agent)], None)
    };
    assert_eq!(as_agent(&own, "a").status, 200);
    assert_eq!(refusal(&as_agent(&own, "b")), refused(403, "permission_denied"));
    let any = server.key(4);
    assert_eq!(as_agent(&any, "b").status, 200);
    assert_eq!(refusal(&as_agent(&any, "system")), refused(400, "invalid_request"));
}

#[test]
fn a_field_is_chosen_as_everywhere_and_looking_makes_none() {
    let server = TestServer::start();
    let key = server.key(10);
    let mut client = bearer(&server, &key);
    let asked = client.send("GET", RUNTIME, &[("quipu-field", "elsewhere")], None);
    assert_eq!(refusal(&asked), refused(404, "resource_not_found"));
    let bound = server.key_for(KeyAgent::Any, 10, Some("own"));
    let other = bearer(&server, &bound).send("GET", RUNTIME, &[("quipu-field", "default")], None);
    assert_eq!(refusal(&other), refused(403, "permission_denied"));
}

#[test]
fn any_accept_is_answered_with_json_and_a_head_like_a_get() {
    let server = TestServer::start();
    let key = server.key(2);
    for accept in ["*/*", "text/event-stream", "text/html", "nonsense"] {
        let reply = bearer(&server, &key).send("GET", RUNTIME, &[("accept", accept)], None);
        assert_eq!(reply.status, 200, "{accept}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
}

#[test]
fn a_malformed_idempotency_key_is_refused_by_name() {
    let server = TestServer::start();
    let key = server.key(2);
    let long = "k".repeat(256);
    for bad in ["", "a\tb", "\u{e9}", long.as_str()] {
        let reply = bearer(&server, &key).send("GET", RUNTIME, &[("idempotency-key", bad)], None);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{bad:?}");
        assert_eq!(reply.json()["error"]["param"], "Idempotency-Key");
    }
}

#[test]
fn the_capabilities_are_those_of_the_runtime() {
    let server = TestServer::start();
    let mut client = bearer(&server, &server.key(2));
    let runtime = client.get(RUNTIME).json();
    let summary = client.get("/v1/capabilities").json();
    assert_eq!(summary["object"], "capability_summary");
    assert_eq!(summary["capabilities"], runtime["capabilities"]);
    assert_eq!(stranger(&server).get("/v1/capabilities").status, 401);
}
