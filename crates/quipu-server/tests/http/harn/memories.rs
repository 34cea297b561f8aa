//! Memories: memory units as this protocol has them.

use serde_json::{Value, json};

use super::{
    actors::{Actor, id, ids},
    refusal, refused,
};
use crate::support::{TestServer, committed, register};

fn memory(scope: &str, owner: &str, content: &Value) -> Value {
    json!({
        "scope": scope, "owner_id": owner, "content": content,
        "provenance": {"source": "a test", "purpose": "to remember", "confidence": 0.75},
        "metadata": {"k": "v"},
    })
}

#[test]
fn a_memory_is_a_unit_and_comes_back_as_it_was_said() {
    let server = TestServer::start();
    let mut actor = Actor::agent(&server, "a", 5);
    let artifact =
        json!({"type": "artifact_ref", "artifact_id": "artifact_1", "visibility": "public"});
    for content in [json!("the sky is blue"), json!({"sky": "blue"}), artifact] {
        let made = actor.made("/v1/memories", &memory("tenant", "t1", &content));
        assert_eq!(made["object"], "memory");
        assert_eq!((&made["scope"], &made["owner_id"]), (&json!("tenant"), &json!("t1")));
        assert_eq!((&made["content"], &made["metadata"]), (&content, &json!({"k": "v"})));
        assert_eq!(made["confidence"], json!(0.75));
        assert_eq!(made["provenance"]["source"], "a test");
        assert_eq!(made["provenance"]["recorded"]["agent_id"], "a");
        assert_eq!(actor.read(&format!("/v1/memories/{}", id(&made))), made);
    }
    let mut akashik = server.operator();
    akashik.say("b", "/v1/register", &register("b"));
    let found = akashik.say("b", "/v1/attune", &crate::support::attune()).text();
    assert!(found.contains("the sky is blue"), "ATTUNE knows it: {found}");
}

#[test]
fn a_unit_that_record_made_is_a_memory_too() {
    let server = TestServer::start();
    let mut akashik = server.operator();
    akashik.say("b", "/v1/register", &register("b"));
    let unit = akashik.say("b", "/v1/record", &committed("water is wet")).json();
    let unit = unit["memory_unit_id"].as_str().unwrap().to_owned();
    let mut actor = Actor::agent(&server, "a", 5);
    let shown = actor.read(&format!("/v1/memories/{unit}"));
    assert_eq!((&shown["content"], &shown["scope"]), (&json!("water is wet"), &json!("tenant")));
    assert!(ids(&actor.read("/v1/memories")).contains(&unit));
    let path = format!("/v1/memories/{unit}");
    assert_eq!(actor.refused("DELETE", &path, &json!({})).0, 403, "it is another's");
    assert_eq!(Actor::operator(&server).send("DELETE", &path, &json!({})).status, 204);
    assert_eq!(refusal(&actor.get(&path)), refused(404, "resource_not_found"));
}

#[test]
fn a_memory_of_a_session_that_is_over_is_not_deleted() {
    let server = TestServer::start();
    let mut actor = Actor::agent(&server, "a", 5);
    let session = actor.session();
    let made = actor.made("/v1/memories", &memory("session", &session, &json!("it was so")));
    actor.done("POST", &format!("/v1/sessions/{session}/close"), &json!({}));
    let path = format!("/v1/memories/{}", id(&made));
    let refused = actor.refused("DELETE", &path, &json!({}));
    assert_eq!((refused.0, refused.1.as_str()), (409, "conflict"));
    assert_eq!(actor.read(&path), made);
}

#[test]
fn a_memory_of_a_session_is_for_its_members() {
    let server = TestServer::start();
    let mut owner = Actor::agent(&server, "a", 5);
    let mut other = Actor::agent(&server, "b", 5);
    let session = owner.session();
    let made = id(&owner.made("/v1/memories", &memory("session", &session, &json!("ours"))));
    let path = format!("/v1/memories/{made}");
    assert_eq!(owner.read(&path)["scope"], "session");
    assert_eq!(ids(&owner.read(&format!("/v1/memories?session_id={session}"))), [made.as_str()]);
    assert_eq!(ids(&owner.read("/v1/memories?workspace_id=workspace_default")), [made.as_str()]);
    assert!(ids(&owner.read("/v1/memories?workspace_id=workspace_x")).is_empty());
    assert_eq!(refusal(&other.get(&path)), refused(404, "resource_not_found"));
    assert!(ids(&other.read("/v1/memories")).is_empty());
    assert_eq!(other.refused("DELETE", &path, &json!({})).0, 404);
}

#[test]
fn a_memory_is_deleted_once_and_keys_hold_for_it() {
    let server = TestServer::start();
    let mut actor = Actor::agent(&server, "a", 5);
    let body = memory("workspace", "workspace_default", &json!("once"));
    let first = actor.post_once("k", "/v1/memories", &body).json();
    assert_eq!(actor.post_once("k", "/v1/memories", &body).json()["id"], first["id"]);
    let other = memory("workspace", "workspace_default", &json!("twice"));
    let reply = actor.post_once("k", "/v1/memories", &other);
    assert_eq!(refusal(&reply), refused(409, "idempotency_key_reused"));
    assert_eq!(ids(&actor.read("/v1/memories")).len(), 1);
    let path = format!("/v1/memories/{}", id(&first));
    assert_eq!(actor.send("DELETE", &path, &json!({})).status, 204);
    assert_eq!(actor.refused("DELETE", &path, &json!({})).0, 404);
    assert!(ids(&actor.read("/v1/memories")).is_empty());
}

#[test]
fn what_is_no_memory_is_refused() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let mut of = |body: Value| {
        let (status, _, param) = actor.refused("POST", "/v1/memories", &body);
        (status, param)
    };
    assert_eq!(of(json!({})), (400, "scope".to_owned()));
    assert_eq!(of(memory("galaxy", "x", &json!("x"))), (400, "scope".to_owned()));
    assert_eq!(of(memory("session", "session_x", &json!("x"))), (404, "owner_id".to_owned()));
    assert_eq!(of(memory("workspace", "workspace_x", &json!("x"))), (404, "owner_id".to_owned()));
    assert_eq!(of(memory("persona", "persona_x", &json!("x"))), (404, "owner_id".to_owned()));
    assert_eq!(of(memory("tenant", "t", &json!(" "))), (400, "content".to_owned()));
    assert_eq!(of(memory("tenant", "t", &json!([1]))), (400, "content".to_owned()));
    for path in ["/v1/memories/mem-x", "/v1/memories/%00", "/v1/memories/session_default"] {
        assert_eq!(refusal(&actor.get(path)).0, 404, "{path}");
    }
}

#[test]
fn a_purge_takes_everything_that_was_said_of_a_memory() {
    let server = TestServer::start();
    let mut actor = Actor::agent(&server, "a", 5);
    let mut body = memory("tenant", "t", &json!("canary-content"));
    body["provenance"]["note"] = json!("canary-provenance");
    body["metadata"] = json!({"note": "canary-metadata"});
    let made = id(&actor.made("/v1/memories", &body));
    for canary in ["canary-content", "canary-provenance", "canary-metadata"] {
        assert!(kept(&server).contains(canary), "{canary}");
    }
    let mut operator = server.operator();
    operator.say("op", "/v1/register", &register("op"));
    let purge =
        json!({"strategy": "purge", "filter": {"types": ["finding"]}, "reason": "asked to"});
    let reply = operator.say("op", "/v1/compact", &purge);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(refusal(&actor.get(&format!("/v1/memories/{made}"))).0, 404);
    assert!(!kept(&server).contains("canary"), "{}", kept(&server));
}

/// Every text that the log still has.
fn kept(server: &TestServer) -> String {
    let field = server.fields.opened().into_iter().next().unwrap();
    let commits = field.commits(1, 1000).unwrap();
    let bodies = commits.iter().flat_map(|commit| &commit.bodies).filter_map(|stored| {
        let quipu_log::BodyContent::Present(body) = &stored.content else { return None };
        Some(String::from_utf8_lossy(&body.json).into_owned())
    });
    bodies.collect()
}
