//! The least authority that each operation needs (spec 7.2), from below and from above.

use serde_json::{Value, json};

use crate::support::{TestServer, attune, committed, draft, register};

/// Tries every authority, each with a key of its own, as the agent `me`.
fn check(path: &str, least: u8, payload: impl Fn(&TestServer, u8) -> Value) {
    let server = TestServer::start();
    let mut operator = server.operator();
    for authority in 0..=10 {
        operator.post("/v1/register", &register("me"));
        let payload = payload(&server, authority);
        let mut client = server.client().with_key(&server.key(authority));
        let reply = client.say("me", path, &payload);
        let (status, code) = (reply.status, reply.code());
        let expected =
            if authority >= least { (200, "OK") } else { (403, "INSUFFICIENT_AUTHORITY") };
        assert_eq!((status, code.as_str()), expected, "{path} with {authority}: {}", reply.text());
    }
}

#[test]
fn register_needs_none() {
    check("/v1/register", 0, |_, authority| register(&format!("agent-{authority}")));
}

#[test]
fn a_draft_needs_2_and_a_committed_unit_4() {
    check("/v1/record", 2, |_, _| draft("note"));
    check("/v1/record", 4, |_, _| committed("fact"));
    check("/v1/record", 4, |_, _| {
        let mut without_mode = committed("fact");
        without_mode.as_object_mut().unwrap().remove("mode");
        without_mode
    });
}

#[test]
fn attune_needs_2() {
    check("/v1/attune", 2, |_, _| attune());
}

#[test]
fn detect_needs_4() {
    check("/v1/detect", 4, |_, _| json!({"mode": "list"}));
}

#[test]
fn replay_needs_none() {
    check("/v1/replay", 0, |server, authority| {
        let mut operator = server.operator();
        let reply = operator.say("me", "/v1/record", &committed(&format!("fact {authority}")));
        json!({"target_type": "memory_unit", "target_id": reply.json()["memory_unit_id"]})
    });
}

#[test]
fn archive_and_summarize_need_6_and_purge_10() {
    for (strategy, least) in [("archive", 6), ("summarize", 6), ("purge", 10)] {
        check(
            "/v1/compact",
            least,
            |_, _| json!({"strategy": strategy, "filter": {"session_id": "s"}}),
        );
    }
}

#[test]
fn leaving_needs_4_and_making_another_leave_8() {
    check("/v1/deregister", 4, |_, _| json!({"agent_id": "me"}));
    check("/v1/deregister", 4, |_, _| json!({"agent_id": "nobody"}));
    check("/v1/deregister", 8, |server, authority| {
        let other = format!("other-{authority}");
        server.operator().post("/v1/register", &register(&other));
        json!({"agent_id": other})
    });
}

#[test]
fn the_reads_need_2() {
    let server = TestServer::start();
    for authority in 0..=10 {
        let mut client = server.client().with_key(&server.key(authority));
        for path in ["/v1/field/status", "/v1/agents", "/v1/conflicts"] {
            let expected = if authority >= 2 { 200 } else { 403 };
            assert_eq!(client.get(path).status, expected, "{path} with {authority}");
        }
    }
}

#[test]
fn an_agent_has_no_more_authority_than_it_registered_with() {
    let server = TestServer::start();
    let mut operator = server.operator();
    let mut payload = register("modest");
    payload["authority_level"] = json!(2);
    operator.post("/v1/register", &payload);
    let reply = operator.say("modest", "/v1/record", &committed("fact"));
    assert_eq!(reply.code(), "INSUFFICIENT_AUTHORITY");
    let mut weak = server.client().with_key(&server.key(4));
    let mut payload = register("proud");
    payload["authority_level"] = json!(5);
    assert_eq!(weak.post("/v1/register", &payload).code(), "INSUFFICIENT_AUTHORITY");
}

#[test]
fn registration_and_authority_are_judged_before_the_payload() {
    let server = TestServer::start();
    let mut operator = server.operator();
    for path in ["/v1/record", "/v1/attune", "/v1/detect", "/v1/deregister"] {
        let reply = operator.say("stranger", path, &json!({"nonsense": true}));
        assert_eq!((reply.status, reply.code().as_str()), (403, "AGENT_NOT_REGISTERED"), "{path}");
    }
    operator.post("/v1/register", &register("me"));
    let mut audit = server.client().with_key(&server.key(0));
    for path in ["/v1/record", "/v1/attune", "/v1/detect", "/v1/deregister"] {
        let reply = audit.say("me", path, &json!({"nonsense": true}));
        assert_eq!(reply.code(), "INSUFFICIENT_AUTHORITY", "{path}");
        let reply = operator.say("me", path, &json!({"nonsense": true}));
        assert_eq!(reply.status, 400, "{path}: {}", reply.text());
    }
}
