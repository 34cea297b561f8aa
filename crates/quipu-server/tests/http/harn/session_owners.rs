//! What a Session or a Branch says is its opener's or its maker's, and a session for the invited is for those alone.

use serde_json::{Value, json};

use super::actors::{Actor, id};
use crate::support::TestServer;

/// A Session of `ann`, in which `bob` and `chief` speak too.
fn among_three(server: &TestServer) -> ([Actor; 3], String) {
    // A Field is brought into being by who may.
    Actor::operator(server).session();
    let mut actors =
        [("ann", 5), ("bob", 5), ("chief", 8)].map(|(name, own)| Actor::agent(server, name, own));
    let session = actors[0].session();
    for actor in &mut actors {
        actor.say(&session, "here");
    }
    (actors, session)
}

fn denied(param: &str) -> (u16, String, String) {
    (403, "permission_denied".to_owned(), param.to_owned())
}

#[test]
fn a_session_is_changed_by_who_opened_it_or_with_authority_8() {
    let server = TestServer::start();
    let ([mut ann, mut bob, mut chief], session) = among_three(&server);
    let path = format!("/v1/sessions/{session}");
    let says = |summary: &str| json!({"summary": summary, "metadata": {"by": summary}});
    assert_eq!(bob.refused("PATCH", &path, &says("bob")), denied(""));
    for (actor, name) in [(&mut ann, "ann"), (&mut chief, "chief")] {
        assert_eq!(actor.done("PATCH", &path, &says(name))["summary"], name);
    }
}

#[test]
fn a_branch_is_led_elsewhere_by_its_maker_the_opener_of_the_session_or_authority_8() {
    let server = TestServer::start();
    let ([mut ann, mut bob, mut chief], session) = among_three(&server);
    let branches = format!("/v1/sessions/{session}/branches");
    let fork = format!("/v1/sessions/{session}/fork");
    let branch_of = |actor: &mut Actor| json!({"branch_id": id(&actor.made(&branches, &json!({"kind": "session", "base_ref": "main"})))});
    let (of_ann, of_bob): (Value, Value) = (branch_of(&mut ann), branch_of(&mut bob));
    assert_eq!(bob.refused("POST", &fork, &of_ann), denied("branch_id"));
    bob.made(&fork, &of_bob);
    ann.made(&fork, &of_bob);
    chief.made(&fork, &of_ann);
}

/// What SESSION says to an agent with a key of its own.
fn session(server: &TestServer, agent: &str, payload: &Value) -> (u16, String) {
    let named = quipu_server::secrets::keys::KeyAgent::Named(agent.to_owned());
    let mut client = server.client().with_key(&server.key_for(named, 8, None));
    let reply = client.say(agent, "/v1/session", payload);
    (reply.status, reply.code())
}

#[test]
fn authority_8_lets_itself_or_others_into_no_session_that_it_was_not_invited_to() {
    let server = TestServer::start();
    let mut operator = server.operator();
    for (name, authority) in [("ann", 5), ("chief", 8), ("deputy", 8), ("boss", 10)] {
        let joins = json!({"id": name, "role": "r", "authority_level": authority});
        assert_eq!(operator.post("/v1/register", &joins).status, 200);
    }
    let policy = json!({"goal": "g", "policy": {"join": "invite"}});
    let create = json!({"action": "create", "session_id": "closed", "session": policy});
    assert_eq!(session(&server, "ann", &create).0, 200);
    let on = |action: &str| json!({"action": action, "session_id": "closed"});
    let lets_in = |whom: &str| json!({"action": "join", "session_id": "closed", "agent_id": whom});
    let mut opens = on("set_policy");
    opens["session"] = json!({"policy": {"join": "open"}});
    let refused = (403, "INSUFFICIENT_AUTHORITY".to_owned());
    for payload in [&on("join"), &lets_in("deputy"), &opens] {
        assert_eq!(session(&server, "chief", payload), refused, "{payload}");
    }
    assert_eq!(session(&server, "ann", &lets_in("chief")).0, 200);
    assert_eq!(session(&server, "chief", &lets_in("deputy")).0, 200, "a member with 8 may");
    assert_eq!(operator.say("boss", "/v1/session", &on("join")).status, 200);
    assert_eq!(session(&server, "chief", &on("leave")).0, 200);
    assert_eq!(session(&server, "chief", &on("join")), refused, "who left was let in once");
    assert_eq!(session(&server, "ann", &on("leave")).0, 200);
    assert_eq!(session(&server, "ann", &on("join")).0, 200, "it is hers");
    assert_eq!(session(&server, "deputy", &on("pause")).0, 200);
}
