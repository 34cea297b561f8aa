//! The least authority that each operation needs (spec 7.2), from below and from above.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use crate::support::{TestServer, attune, committed, draft, register};

/// A key of the agent `me`: a key for any agent speaks for none that has more authority than it.
fn own_key(server: &TestServer, authority: u8) -> String {
    server.key_for(KeyAgent::Named("me".to_owned()), authority, None)
}

/// Tries every authority, each with a key of its own, as the agent `me`.
fn check(path: &str, least: u8, payload: impl Fn(&TestServer, u8) -> Value) {
    let server = TestServer::start();
    let mut operator = server.operator();
    for authority in 0..=10 {
        operator.post("/v1/register", &register("me"));
        let payload = payload(&server, authority);
        let mut client = server.client().with_key(&own_key(&server, authority));
        let reply = client.say("me", path, &payload);
        let (status, code) = (reply.status, reply.code());
        let expected =
            if authority >= least { (200, "OK") } else { (403, "INSUFFICIENT_AUTHORITY") };
        assert_eq!((status, code.as_str()), expected, "{path} with {authority}: {}", reply.text());
    }
}

#[test]
fn register_needs_none() {
    let server = TestServer::start();
    for authority in 0..=10 {
        let mut client = server.client().with_key(&server.key(authority));
        let reply = client.post("/v1/register", &register(&format!("agent-{authority}")));
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
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

/// A new conflict between two units of `author`.
fn conflict(server: &TestServer) -> Value {
    let mut author = server.operator();
    author.post("/v1/register", &register("author"));
    let older = author.say("author", "/v1/record", &committed("yes")).json();
    let mut newer = committed("no");
    newer["relations"] = json!([{"type": "contradicts", "target_id": older["memory_unit_id"]}]);
    let newer = author.say("author", "/v1/record", &newer).json();
    json!({"conflict": newer["conflicts_detected"][0], "unit": newer["memory_unit_id"]})
}

fn merge(conflict: &Value, strategy: &str) -> Value {
    json!({"conflict_id": conflict["conflict"], "strategy": strategy,
           "resolution": {"winner_id": conflict["unit"], "rationale": "to test"}})
}

#[test]
fn settling_and_calling_a_vote_needs_6_and_a_ballot_4() {
    check("/v1/merge", 6, |server, _| merge(&conflict(server), "last_write_wins"));
    check("/v1/merge", 6, |server, _| merge(&conflict(server), "human_escalation"));
    check("/v1/merge", 6, |server, _| merge(&conflict(server), "vote"));
    check("/v1/merge", 4, |server, _| {
        let vote = merge(&conflict(server), "vote");
        server.operator().say("author", "/v1/merge", &vote);
        vote
    });
}

#[test]
fn what_waits_for_a_human_is_settled_with_10_and_no_other_authority() {
    let server = TestServer::start();
    let mut operator = server.operator();
    operator.post("/v1/register", &register("me"));
    let escalated = conflict(&server);
    let human = merge(&escalated, "human_escalation");
    let reply = operator.say("me", "/v1/merge", &human);
    assert_eq!(reply.json()["status"], "escalated");
    for authority in 0..=10 {
        let mut client = server.client().with_key(&own_key(&server, authority));
        let reply = client.say("me", "/v1/merge", &human);
        let expected = match authority {
            0..6 => (403, "INSUFFICIENT_AUTHORITY"),
            6..10 => (409, "INVALID_TRANSITION"),
            _ => (200, "OK"),
        };
        assert_eq!((reply.status, reply.code().as_str()), expected, "{authority}");
    }
}

#[test]
fn withdrawing_needs_2_for_the_author_and_10_for_anybody_else() {
    let draft_of = |server: &TestServer, agent: &str| {
        server.operator().post("/v1/register", &register(agent));
        let own = KeyAgent::Named(agent.to_owned());
        let mut author = server.client().with_key(&server.key_for(own, 2, None));
        let unit = author.say(agent, "/v1/record", &draft("note")).json();
        json!({"unit_id": unit["memory_unit_id"], "intent": {"purpose": "to test"}})
    };
    check("/v1/retract", 2, |server, _| draft_of(server, "me"));
    check("/v1/retract", 10, |server, _| draft_of(server, "other"));
}

#[test]
fn several_units_need_what_the_one_of_them_needs_that_needs_most() {
    check("/v1/records", 2, |_, _| json!({"units": [draft("one"), draft("two")]}));
    check("/v1/records", 4, |_, _| json!({"units": [draft("one"), committed("two")]}));
}

#[test]
fn reading_of_sessions_tasks_and_handoffs_needs_2_and_making_them_4() {
    for path in ["/v1/session", "/v1/coordinate", "/v1/handoff"] {
        check(path, 2, |_, _| json!({"action": "list"}));
    }
    check("/v1/session", 4, |_, _| json!({"action": "create", "session": {"goal": "g"}}));
    let task = json!({"title": "t", "intent": {"purpose": "p"}});
    check("/v1/coordinate", 4, |_, _| json!({"action": "create", "task": task}));
    check("/v1/handoff", 4, |server, authority| {
        let other = format!("other-{authority}");
        server.operator().post("/v1/register", &register(&other));
        let task = format!("task-{authority}");
        json!({"action": "offer", "task_id": task, "to_agent": other, "reason": "r"})
    });
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
        let mut joins = register(&other);
        joins["authority_level"] = json!(4);
        server.operator().post("/v1/register", &joins);
        json!({"agent_id": other})
    });
}

#[test]
fn the_reads_need_2_and_the_whole_log_8() {
    let server = TestServer::start();
    for authority in 0..=10 {
        let mut client = server.client().with_key(&own_key(&server, authority));
        let paths =
            [("/v1/field/status", 2), ("/v1/agents", 2), ("/v1/conflicts", 2), ("/v1/log", 8)];
        for (path, needed) in paths {
            let expected = if authority >= needed { 200 } else { 403 };
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

const PATHS: [&str; 7] = [
    "/v1/record",
    "/v1/records",
    "/v1/attune",
    "/v1/detect",
    "/v1/deregister",
    "/v1/merge",
    "/v1/retract",
];

#[test]
fn registration_and_authority_are_judged_before_the_payload() {
    let server = TestServer::start();
    let mut operator = server.operator();
    for path in PATHS {
        let reply = operator.say("stranger", path, &json!({"nonsense": true}));
        assert_eq!((reply.status, reply.code().as_str()), (403, "AGENT_NOT_REGISTERED"), "{path}");
    }
    operator.post("/v1/register", &register("me"));
    let mut audit = server.client().with_key(&server.key(0));
    for path in PATHS {
        let reply = audit.say("me", path, &json!({"nonsense": true}));
        assert_eq!(reply.code(), "INSUFFICIENT_AUTHORITY", "{path}");
        let reply = operator.say("me", path, &json!({"nonsense": true}));
        assert_eq!(reply.status, 400, "{path}: {}", reply.text());
    }
}
