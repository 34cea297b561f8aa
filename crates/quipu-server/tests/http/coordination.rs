//! SESSION, COORDINATE and HANDOFF over HTTP, and what the GET routes show to whom.

use serde_json::{Value, json};

use crate::support::{Client, TestServer, attune, committed, envelope, register};

fn say(client: &mut Client, agent: &str, session: &str, path: &str, body: &Value) -> Value {
    let headers = [("akashik-agent", agent), ("akashik-session", session)];
    let reply = client.post_raw(path, &headers, body.to_string().as_bytes());
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

#[test]
fn a_task_goes_from_hand_to_hand_within_a_session() {
    let server = TestServer::start();
    let mut client = server.operator();
    for agent in ["ana", "sam"] {
        client.post("/v1/register", &register(agent));
    }
    let create = json!({"action": "create", "session_id": "q1", "session": {"goal": "Size it"}});
    let session = client.post("/v1/session", &envelope("SESSION", "ana", "s-1", &create)).json();
    assert_eq!(session["session"]["status"], "active");
    client.say("sam", "/v1/session", &json!({"action": "join", "session_id": "q1"}));
    let create = json!({"action": "create", "assignee": "ana", "lease_ms": 60000,
        "task": {"id": "size", "title": "Size the market", "intent": {"purpose": "To plan"}}});
    let task = say(&mut client, "ana", "q1", "/v1/coordinate", &create);
    assert_eq!((&task["status"], &task["task"]["status"]), (&json!("ok"), &json!("assigned")));
    let start = json!({"action": "start", "task_id": "size"});
    say(&mut client, "ana", "q1", "/v1/coordinate", &start);
    let offer = json!({"action": "offer", "task_id": "size", "to_agent": "sam", "reason": "lunch"});
    let offered = say(&mut client, "ana", "q1", "/v1/handoff", &offer);
    let accept = json!({"action": "accept", "handoff_id": offered["handoff"]["id"]});
    let accepted = say(&mut client, "sam", "q1", "/v1/handoff", &accept);
    assert_eq!(accepted["status"], "accepted");
    let started = say(&mut client, "sam", "q1", "/v1/coordinate", &start);
    assert_eq!(started["task"]["assigned_to"], "sam");
    let agents = client.get("/v1/agents").json();
    assert_eq!(agents["agents"][1]["current_task_id"], "size");
    let reply = client.say("ana", "/v1/coordinate", &json!({"action": "claim", "task_id": "size"}));
    assert_eq!((reply.status, reply.code().as_str()), (409, "INVALID_TRANSITION"));
    let reply =
        client.say("ana", "/v1/session", &json!({"action": "end", "session_id": "nowhere"}));
    assert_eq!((reply.status, reply.code().as_str()), (404, "UNIT_NOT_FOUND"));
}

#[test]
fn the_reads_show_a_session_only_to_who_is_in_it() {
    let server = TestServer::start();
    let mut client = server.client().with_key(&server.key(4));
    for agent in ["ana", "sam"] {
        client.post("/v1/register", &register(agent));
    }
    let create = json!({"action": "create", "session_id": "q1", "session": {"goal": "Size it"}});
    client.say("ana", "/v1/session", &create);
    let old = say(&mut client, "ana", "q1", "/v1/record", &committed("one"));
    let mut against = committed("not one");
    against["relations"] = json!([{"type": "contradicts", "target_id": old["memory_unit_id"]}]);
    say(&mut client, "ana", "q1", "/v1/record", &against);
    let mut count = |headers: &[(&str, &str)], path: &str, at: &str| {
        let reply = client.send("GET", path, headers, None).json();
        reply.pointer(at).cloned().unwrap()
    };
    let member = [("akashik-agent", "ana"), ("akashik-session", "q1")];
    let stranger = [("akashik-agent", "sam"), ("akashik-session", "q1")];
    assert_eq!(count(&member, "/v1/conflicts", "/conflicts").as_array().unwrap().len(), 1);
    assert_eq!(count(&stranger, "/v1/conflicts", "/conflicts"), json!([]));
    assert_eq!(count(&[], "/v1/conflicts", "/conflicts"), json!([]));
    assert_eq!(count(&member, "/v1/field/status", "/units/total"), 2);
    assert_eq!(count(&stranger, "/v1/field/status", "/units/total"), 0);
    let headers = [("akashik-agent", "sam"), ("akashik-session", "q1")];
    let reply = client.post_raw("/v1/attune", &headers, attune().to_string().as_bytes());
    assert_eq!((reply.status, reply.code().as_str()), (403, "INSUFFICIENT_AUTHORITY"));
    let operator = server.operator().get("/v1/field/status").json();
    assert_eq!(operator["units"]["total"], 2);
}
