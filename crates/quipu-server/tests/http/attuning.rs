//! What ATTUNE has beyond the protocol, as `docs/protocol/attune.md` says it.

use serde_json::{Value, json};

use crate::support::{Client, TestServer, committed, register};

fn within(client: &mut Client, agent: &str, path: &str, payload: &Value) -> Value {
    let headers = [("akashik-agent", agent), ("akashik-session", "s")];
    let reply = client.post_raw(path, &headers, payload.to_string().as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn team(server: &TestServer, policy: &Value) -> Client {
    let mut client = server.client();
    for agent in ["ana", "sam"] {
        assert_eq!(client.post("/v1/register", &register(agent)).status, 200);
    }
    let create = json!({"action": "create", "session_id": "s",
                        "session": {"goal": "g", "policy": policy}});
    assert_eq!(client.say("ana", "/v1/session", &create).status, 200);
    let join = json!({"action": "join", "session_id": "s"});
    assert_eq!(client.say("sam", "/v1/session", &join).status, 200);
    client
}

#[test]
fn the_past_is_looked_at_by_its_epoch_and_the_future_is_refused() {
    let server = TestServer::dev();
    let mut client = team(&server, &json!({}));
    let first = within(&mut client, "ana", "/v1/record", &committed("the market grows"));
    within(&mut client, "ana", "/v1/record", &committed("the market shrinks"));
    let mut asked = json!({"scope": {"role": "strategist", "max_units": 10}});
    asked["scope"]["as_of_epoch"] = first["epoch"].clone();
    let then = within(&mut client, "sam", "/v1/attune", &asked);
    assert_eq!(then["record"].as_array().unwrap().len(), 1);
    assert_eq!(then["record"][0]["memory_unit"]["id"], first["memory_unit_id"]);
    assert_eq!(then["as_of_epoch"], first["epoch"]);
    assert!(then["epoch"].as_u64() > first["epoch"].as_u64());
    asked["scope"]["as_of_epoch"] = json!(1_000_000);
    let reply = client.say("sam", "/v1/attune", &asked);
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"));
    assert!(reply.message().starts_with("payload.scope.as_of_epoch"), "{}", reply.message());
}

#[test]
fn a_decision_made_in_a_traced_session_tells_what_its_author_had_been_shown() {
    let server = TestServer::dev();
    let mut client = team(&server, &json!({"trace_attunes": true}));
    let unit = within(&mut client, "ana", "/v1/record", &committed("the market grows"));
    let scope = json!({"role": "strategist", "max_units": 10});
    let asked = json!({"scope": scope, "context_hint": "entering the market"});
    let shown = within(&mut client, "sam", "/v1/attune", &asked);
    assert!(shown["trace_id"].as_str().unwrap().starts_with("trace-"), "{shown}");
    let mut decision = committed("we enter");
    decision["type"] = json!("decision");
    let made = within(&mut client, "sam", "/v1/record", &decision);
    let replay = json!({"target_type": "decision", "target_id": made["memory_unit_id"]});
    let told = within(&mut client, "ana", "/v1/replay", &replay);
    let attuned = &told["timeline"][0];
    assert_eq!((&attuned["event_type"], &attuned["agent_id"]), (&json!("ATTUNE"), &json!("sam")));
    let score = shown["record"][0]["relevance_score"].as_f64().unwrap();
    let unit = unit["memory_unit_id"].as_str().unwrap();
    let expected =
        format!("Attuned as strategist for \"entering the market\": shown {unit} ({score:.2})");
    assert_eq!(attuned["description"], json!(expected));
}
