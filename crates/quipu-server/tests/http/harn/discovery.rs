//! What anybody may ask before it has a key: discovery, the agent card, health and version.

use std::collections::BTreeSet;

use quipu_replay::receipt::ReceiptKey;
use quipu_server::{HarnOptions, ReceiptIssuer};
use quipu_wire::harn::Sha256;
use serde_json::{Value, json};

use super::{APRIL, OCTOBER, VERSION, bearer};
use crate::support::{Setup, TestServer};

/// What a caller reads without a key, naming this version or none.
fn read(server: &TestServer, path: &str, version: Option<&str>) -> Value {
    let mut client = server.client();
    let headers: Vec<_> = version.map(|version| (VERSION, version)).into_iter().collect();
    let reply = client.send("GET", path, &headers, None);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/json"));
    reply.json()
}

#[test]
fn discovery_names_the_version_that_the_caller_named_and_lists_both() {
    let server = TestServer::start();
    for (named, current) in [
        (None, APRIL),
        (Some(APRIL), APRIL),
        (Some(OCTOBER), OCTOBER),
        (Some("agents-protocol-1900-01-01"), APRIL),
    ] {
        let found = read(&server, "/v1", named);
        assert_eq!(found["object"], "protocol_discovery");
        assert_eq!(found["protocol_family"], "harn_agents_protocol");
        assert_eq!(found["current_version"], current);
        assert_eq!(found["supported_versions"], json!([APRIL, OCTOBER]));
        for capability in ["rest", "sse", "websocket", "receipts", "replay"] {
            assert_eq!(found["capabilities"][capability], true, "{capability}");
        }
    }
}

#[test]
fn what_discovery_points_at_is_on_this_server() {
    let server = TestServer::start();
    let found = read(&server, "/v1", None);
    let resources = found["resources"].as_object().unwrap();
    assert!(resources.values().all(|path| path.as_str().unwrap().starts_with("/v1/")));
    let runtime = resources["runtime"].as_str().unwrap();
    let reply = bearer(&server, &server.key(2)).get(runtime);
    assert_eq!((reply.status, &reply.json()["object"]), (200, &json!("runtime")));
    assert_eq!(reply.json()["session_count"], 1, "the built-in one");
    assert_eq!(reply.json()["task_count"], 0);
    assert_eq!(read(&server, found["openapi"].as_str().unwrap(), None)["openapi"], "3.1.0");
}

#[test]
fn the_agent_card_has_the_members_of_the_suite_and_those_of_the_schema() {
    let server = TestServer::start();
    for (named, object, version) in [
        (None, "harn_agent_card", APRIL),
        (Some(APRIL), "agent_card", APRIL),
        (Some(OCTOBER), "agent_card", OCTOBER),
    ] {
        let card = read(&server, "/v1/agent-card", named);
        assert_eq!((&card["object"], &card["protocol_version"]), (&object.into(), &version.into()));
        for text in ["id", "name", "description", "created_at", "updated_at", "public_url"] {
            assert!(card[text].as_str().is_some_and(|text| !text.is_empty()), "{text}");
        }
        let skill = bearer(&server, &server.key(2)).get("/v1/skills/skill_attune").json();
        assert_eq!(card["skills"], json!([skill]), "what is there");
        assert_eq!(card["persona_ids"], json!(["persona_field"]));
        assert_eq!(card["interfaces"], card["harn_interfaces"]);
        let transports = card["interfaces"].as_array().unwrap().iter();
        let transports: BTreeSet<_> =
            transports.map(|each| each["transport"].as_str().unwrap()).collect();
        assert_eq!(transports, BTreeSet::from(["rest", "sse", "websocket"]));
        let a2a = &card["a2a_card"];
        assert!(!a2a["supportedInterfaces"].as_array().unwrap().is_empty());
        assert!(a2a["preferredTransport"].is_string() && a2a["skills"].is_array());
        for text in ["name", "description", "version"] {
            assert!(a2a[text].is_string(), "{text}");
        }
    }
}

#[test]
fn the_card_is_signed_by_a_key_that_it_advertises() {
    let server = TestServer::start();
    for named in [None, Some(OCTOBER)] {
        let mut card = read(&server, "/v1/agent-card", named);
        let key = card["metadata"]["receipt_keys"][0].clone();
        let text =
            format!("{}={}", key["key_id"].as_str().unwrap(), key["public_key"].as_str().unwrap());
        let key: ReceiptKey = text.parse().unwrap();
        let signature = card.as_object_mut().unwrap().remove("signature").unwrap();
        assert_eq!(
            (&signature["algorithm"], &signature["key_id"]),
            (&json!("ed25519"), &json!(key.key_id()))
        );
        let value = signature["value"].as_str().unwrap();
        assert!(key.accepts(&Sha256::of_json(&card).unwrap(), value));
        card["name"] = json!("another");
        assert!(!key.accepts(&Sha256::of_json(&card).unwrap(), value), "another card");
    }
}

#[test]
fn the_card_says_who_issues_receipts_and_where_the_server_is() {
    let issuer = ReceiptIssuer {
        id: "harness_conformance".to_owned(),
        name: "A harness".to_owned(),
        policy_ref: Some("policy_1".to_owned()),
    };
    let public_url = Some("https://memory.example/".to_owned());
    let harn = HarnOptions { issuer, public_url, ..HarnOptions::default() };
    let server = TestServer::with(Setup { harn, ..Setup::default() });
    let card = read(&server, "/v1/agent-card", None);
    let expected = json!({
        "id": "harness_conformance", "name": "A harness", "policy_ref": "policy_1",
    });
    assert_eq!(card["metadata"]["receipt_issuer"], expected);
    assert_eq!(card["name"], "A harness");
    assert_eq!(card["public_url"], "https://memory.example");
    assert_eq!(card["interfaces"][0]["url"], "https://memory.example/v1");
    assert_eq!(card["interfaces"][2]["url"], "wss://memory.example/v1/tasks");
}

#[test]
fn the_card_says_how_to_prove_oneself() {
    let card = read(&TestServer::start(), "/v1/agent-card", None);
    assert_eq!(card["auth_schemes"], json!(["api_key"]));
    let card = read(&TestServer::dev(), "/v1/agent-card", None);
    assert_eq!(card["auth_schemes"], json!([]));
}

#[test]
fn health_and_version_need_neither_a_key_nor_a_version() {
    let server = TestServer::start();
    let health = read(&server, "/health", None);
    assert_eq!((&health["ok"], &health["status"]), (&json!(true), &json!("ok")));
    let version = read(&server, "/version", Some(OCTOBER));
    assert_eq!(
        (&version["object"], &version["protocol_version"]),
        (&json!("version"), &json!(OCTOBER))
    );
    assert_eq!(version["version"], health["version"]);
}
