//! Who may speak at all, and for whom.

use std::sync::Arc;

use quipu_field::{Fields, SystemOrigin};
use quipu_log::MemoryEngine;
use quipu_server::{
    BindError, HarnOptions, KeyStore, Options, Server,
    secrets::keys::{KeyAgent, NewKey},
};
use serde_json::json;

use crate::support::{TestServer, attune, committed, envelope, register};

fn named(agent: &str) -> KeyAgent {
    KeyAgent::Named(agent.to_owned())
}

#[test]
fn refuses_whoever_has_no_key_or_a_wrong_one() {
    let server = TestServer::start();
    let key = server.key(10);
    let forged = format!("{}x", &key[..key.len() - 1]);
    let reply = server.client().post("/v1/register", &register("a"));
    assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"quipu\""));
    assert_eq!(reply.json()["operation"], "REGISTER");
    assert_eq!(reply.json()["status"], "rejected");
    for wrong in ["", "x", "quipu_", "quipu_00000000_x", forged.as_str()] {
        let reply = server.client().with_key(wrong).post("/v1/register", &register("a"));
        assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"), "{wrong:?}");
        let reply = server.client().with_key(wrong).get("/v1/agents");
        assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"), "{wrong:?}");
    }
    let other_scheme = server.client().with("authorization", &format!("Basic {key}"));
    assert_eq!({ other_scheme }.get("/v1/agents").status, 401);
}

#[test]
fn a_broken_message_is_named_before_a_missing_key_and_a_missing_key_before_a_large_body() {
    let server = TestServer::start();
    let reply = server.client().post_raw("/v1/record", &[], b"{\"type\":");
    assert_eq!(reply.code(), "INVALID_PAYLOAD");
    let reply = server.client().post("/v1/record", &committed(&"x".repeat(100_000)));
    assert_eq!(reply.code(), "UNAUTHENTICATED");
}

#[test]
fn the_scheme_is_read_in_any_case() {
    let server = TestServer::start();
    let value = format!("bearer {}", server.key(2));
    assert_eq!(server.client().with("Authorization", &value).get("/v1/agents").status, 200);
}

#[test]
fn a_revoked_key_stops_working_on_an_open_connection() {
    let server = TestServer::start();
    let mut client = server.operator();
    assert_eq!(client.get("/v1/agents").status, 200);
    let id = server.keys.list().unwrap()[0].id.clone();
    assert!(server.keys.revoke(&id).unwrap());
    assert_eq!(client.get("/v1/agents").code(), "UNAUTHENTICATED");
}

#[test]
fn a_key_made_by_another_process_works_at_once() {
    let server = TestServer::start();
    let elsewhere = KeyStore::open(server.directory.path()).unwrap();
    let key =
        NewKey { agent: KeyAgent::Any, authority: 2, field: None, label: None, roles: Vec::new() };
    let secret = elsewhere.create(key).unwrap().secret;
    assert_eq!(server.client().with_key(&secret).get("/v1/agents").status, 200);
}

#[test]
fn a_key_revoked_by_another_process_stops_working_soon() {
    let server = TestServer::start();
    let mut client = server.operator();
    let id = server.keys.list().unwrap()[0].id.clone();
    let elsewhere = KeyStore::open(server.directory.path()).unwrap();
    assert!(elsewhere.revoke(&id).unwrap());
    let refused = (0..1_000_000).any(|_| client.get("/v1/agents").status == 401);
    assert!(refused, "the key still works");
}

#[test]
fn a_key_of_an_agent_speaks_for_that_agent_alone() {
    let server = TestServer::start();
    let key = server.key_for(named("ada"), 4, None);
    let mut client = server.client().with_key(&key);
    let reply = client.post("/v1/register", &register("bob"));
    assert_eq!((reply.status, reply.code().as_str()), (403, "INSUFFICIENT_AUTHORITY"));
    assert!(reply.message().contains("ada") && reply.message().contains("bob"));
    let in_envelope = envelope("REGISTER", "ada", "m-1", &register("bob"));
    assert_eq!(client.post("/v1/register", &in_envelope).code(), "INSUFFICIENT_AUTHORITY");
    assert_eq!(client.post("/v1/register", &register("ada")).status, 200);
    // It needs no header to say who it is.
    assert_eq!(client.post("/v1/record", &committed("mine")).status, 200);
    assert_eq!(client.say("ada", "/v1/record", &committed("mine too")).status, 200);
    assert_eq!(client.say("bob", "/v1/attune", &attune()).code(), "INSUFFICIENT_AUTHORITY");
}

#[test]
fn a_key_of_a_field_is_good_for_that_field_alone() {
    let server = TestServer::start();
    let key = server.key_for(KeyAgent::Any, 4, Some("team"));
    let mut bound = server.client().with_key(&key);
    assert_eq!(bound.post("/v1/register", &register("a")).status, 200);
    assert_eq!(bound.get("/v1/field/status").json()["field"], "team");
    let mut same = server.client().with_key(&key).with("quipu-field", "team");
    assert_eq!(same.get("/v1/agents").json()["agents"].as_array().unwrap().len(), 1);
    let mut other = server.client().with_key(&key).with("quipu-field", "default");
    let reply = other.get("/v1/agents");
    assert_eq!((reply.status, reply.code().as_str()), (403, "INSUFFICIENT_AUTHORITY"));
    assert!(reply.message().contains("team") && reply.message().contains("default"));
}

#[test]
fn in_dev_everybody_may_do_everything() {
    let server = TestServer::dev();
    let mut client = server.client();
    let reply = client.post("/v1/register", &register("a"));
    assert_eq!(reply.json()["agent"]["authority_level"], 10);
    let reply = client.say("a", "/v1/deregister", &json!({"agent_id": "nobody"}));
    assert_eq!(reply.json()["status"], "not_found");
}

#[test]
fn refuses_dev_on_an_address_that_others_can_reach() {
    let directory = tempfile::tempdir().unwrap();
    let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
    let engine = Arc::new(MemoryEngine::new());
    let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
    let options = Options {
        listen: "0.0.0.0:0".parse().unwrap(),
        dev: true,
        tls: None,
        shutdown_grace: std::time::Duration::ZERO,
        write_timeout: quipu_server::WRITE_TIMEOUT,
        push: quipu_server::PushOptions::default(),
        requests_per_second: None,
        harn: HarnOptions::default(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(Server::bind(options, fields, keys)).unwrap_err();
    let BindError::DevNotLoopback { listen } = &error else { panic!("{error}") };
    assert_eq!(listen.to_string(), "0.0.0.0:0");
    assert!(error.to_string().contains("0.0.0.0:0"));
}
