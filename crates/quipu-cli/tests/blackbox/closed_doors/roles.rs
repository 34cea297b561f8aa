//! A role is given by a key or by an operator; who only says it has one is let out of no rule. And there is one way into
//! a session.

use serde_json::{Value, json};

use super::team::{Team, get, post, said};
use crate::support::{Client, Message, refused};

/// Opens a session that shows interns findings alone, also to those outside.
fn open(lead: &mut Client, shown_outside: bool) {
    let rules = json!([{"role": "intern", "allow_types": ["finding"]}]);
    let policy = json!({"cross_session_visibility": shown_outside, "visibility_rules": rules});
    let session = json!({"goal": "g", "policy": policy});
    let create = json!({"action": "create", "session_id": "plans", "session": session});
    lead.operate("SESSION", "lead", create).ok();
    for kind in ["finding", "decision"] {
        let payload = json!({"mode": "committed", "type": kind, "content": format!("a {kind}"),
            "intent": {"purpose": "to test"}, "confidence": {"score": 0.8, "reasoning": "r"}});
        lead.send(&Message::new("RECORD", "lead", payload).with("session_id", "plans")).ok();
    }
}

fn types_seen(client: &mut Client) -> Vec<String> {
    let units = client.get("/v1/units").ok()["units"].clone();
    let mut types: Vec<String> = units
        .as_array()
        .unwrap()
        .iter()
        .map(|unit| unit["type"].as_str().unwrap().to_owned())
        .collect();
    types.sort();
    types
}

fn register(client: &mut Client, agent: &str, role: &str) -> Value {
    client.operate("REGISTER", agent, json!({"id": agent, "role": role})).ok()
}

fn leave(client: &mut Client, agent: &str) {
    client.operate("DEREGISTER", agent, json!({"agent_id": agent})).ok();
}

fn lead(team: &Team) -> Client {
    let mut lead = team.client("lead", "6", &["--role", "lead"]);
    register(&mut lead, "lead", "lead");
    lead
}

#[test]
fn a_role_that_no_key_gives_lets_nobody_out_of_a_rule() {
    let team = Team::start();
    open(&mut lead(&team), true);
    let mut intern = team.client("ian", "4", &["--role", "intern"]);
    let answer = register(&mut intern, "ian", "intern");
    assert_eq!(answer["warnings"].as_array().map_or(0, Vec::len), 0, "{answer}");
    assert_eq!(types_seen(&mut intern), ["finding"]);
    leave(&mut intern, "ian");
    let answer = register(&mut intern, "ian", "lead");
    assert_eq!(
        (&answer["status"], &answer["agent"]["role"]),
        (&json!("registered"), &json!("lead"))
    );
    assert!(answer["warnings"][0].as_str().unwrap().contains("role"), "{answer}");
    assert_eq!(types_seen(&mut intern), ["finding"], "its own word");
    leave(&mut intern, "ian");
    let path = "/v1/sessions/session_default/messages";
    assert_eq!(post(&mut intern, path, &said("hello")).0, 201, "the other protocol registers it");
    assert_eq!(types_seen(&mut intern), ["finding"], "whatever it is there");
}

#[test]
fn a_role_that_a_key_gives_or_an_operator_says_is_believed() {
    let team = Team::start();
    open(&mut lead(&team), true);
    let mut reviewer = team.client("rea", "4", &["--role", "reviewer", "--role", "clerk"]);
    let answer = register(&mut reviewer, "rea", "reviewer");
    assert_eq!(answer["warnings"].as_array().map_or(0, Vec::len), 0, "{answer}");
    assert_eq!(types_seen(&mut reviewer), ["decision", "finding"]);
    let (_, who) = get(&mut reviewer, "/v1/whoami");
    assert_eq!(who["roles"], json!(["reviewer", "clerk"]));
    assert!(team.keys(&["list"]).contains("reviewer, clerk"));
    let mut plain = team.client("pat", "4", &[]);
    register(&mut team.operator(), "pat", "reviewer");
    assert_eq!(types_seen(&mut plain), ["decision", "finding"]);
}

#[test]
fn nobody_gets_into_a_session_by_talking_that_session_refuses() {
    let team = Team::start();
    open(&mut lead(&team), false);
    let mut intern = team.client("ian", "4", &["--role", "intern"]);
    register(&mut intern, "ian", "intern");
    let join = json!({"action": "join", "session_id": "plans"});
    intern.operate("SESSION", "ian", join.clone()).ok();
    leave(&mut intern, "ian");
    register(&mut intern, "ian", "lead");
    refused(&intern.operate("SESSION", "ian", join), 403, "INSUFFICIENT_AUTHORITY");
    let task = json!({"input": "look", "session_id": "plans"});
    let memory =
        json!({"scope": "session", "owner_id": "plans", "content": "mine", "provenance": {}});
    let branch = json!({"kind": "session", "base_ref": "plans"});
    for (path, body) in [
        ("/v1/sessions/plans/join", json!({})),
        ("/v1/sessions/plans/messages", said("let me in")),
        ("/v1/tasks", task),
        ("/v1/memories", memory),
        ("/v1/sessions/plans/branches", branch),
    ] {
        let (status, answer) = post(&mut intern, path, &body);
        assert_eq!(status, 403, "{path}: {answer}");
    }
    let get_session = json!({"action": "get", "session_id": "plans"});
    let session = team.operator().operate("SESSION", "operator", get_session).ok();
    assert_eq!(session["session"]["members"], json!(["lead"]));
}
