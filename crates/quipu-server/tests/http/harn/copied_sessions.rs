//! Forks and replays of a session for the invited: who makes one gets no more power over what is in it than over the
//! original, however many copies are one behind the other.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use super::actors::{Actor, id};
use crate::support::{Client, TestServer};

const AGENTS: [&str; 4] = ["ann", "bob", "dan", "eve"];

/// A session of `ann` for the invited, with `bob` in it, and a Task there that bob worked on.
struct Room {
    server: TestServer,
    actors: [Actor; 4],
    session: String,
}

impl Room {
    fn new(join: &str) -> Self {
        let server = TestServer::start();
        let mut operator = server.operator();
        for name in AGENTS {
            let joins = json!({"id": name, "role": "r", "authority_level": 5});
            assert_eq!(operator.post("/v1/register", &joins).status, 200);
        }
        let create =
            json!({"action": "create", "session": {"goal": "g", "policy": {"join": join}}});
        let reply = speaker(&server, "ann").say("ann", "/v1/session", &create);
        let session = reply.json()["session"]["id"].as_str().unwrap().to_owned();
        let actors = AGENTS.map(|name| Actor::agent(&server, name, 5));
        let mut room = Self { server, actors, session };
        let session = room.session.clone();
        assert_eq!(room.lets_in("ann", "bob", &session), 200);
        let persona = json!({"name": "p", "version": "1", "entry_workflow": "main",
            "description": "d", "autonomy_tier": "act_auto", "receipt_policy": "required"});
        let persona = id(&Actor::operator(&room.server).made("/v1/personas", &persona));
        let [ann, bob, ..] = &mut room.actors;
        ann.say(&session, "canary");
        let body = json!({"persona_id": persona, "input": "go"});
        let task = posted(ann, &format!("/v1/sessions/{session}/tasks"), &body);
        bob.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
        bob.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "canary"}));
        room
    }

    fn session(&self, agent: &str, payload: &Value) -> u16 {
        speaker(&self.server, agent).say(agent, "/v1/session", payload).status
    }

    fn lets_in(&self, by: &str, whom: &str, session: &str) -> u16 {
        let join = json!({"action": "join", "session_id": session, "agent_id": whom});
        self.session(by, &join)
    }

    fn puts_out(&self, whom: &str, session: &str) {
        let leave = json!({"action": "leave", "session_id": session, "agent_id": whom});
        assert_eq!(self.session("ann", &leave), 200);
    }

    fn opens(&self, by: &str, session: &str, join: &str) {
        let policy = json!({"policy": {"join": join, "cross_session_visibility": true}});
        let opens = json!({"action": "set_policy", "session_id": session, "session": policy});
        assert_eq!(self.session(by, &opens), 200);
    }

    /// Bob's fork, his replay, and a fork of a fork of it.
    fn copies(&mut self) -> Vec<String> {
        let [_, bob, ..] = &mut self.actors;
        let mut copy =
            |of: &str, how: &str| posted(bob, &format!("/v1/sessions/{of}/{how}"), &json!({}));
        let (fork, replay) = (copy(&self.session, "fork"), copy(&self.session, "replay"));
        let deep = copy(&replay, "fork");
        let deep = copy(&deep, "fork");
        vec![fork, replay, deep]
    }
}

/// The id of what was made.
#[track_caller]
fn posted(actor: &mut Actor, path: &str, body: &Value) -> String {
    let reply = actor.post(path, body);
    assert!(matches!(reply.status, 201 | 202), "{path}: {} {}", reply.status, reply.text());
    id(&reply.json())
}

fn speaker(server: &TestServer, agent: &str) -> Client {
    server.client().with_key(&server.key_for(KeyAgent::Named(agent.to_owned()), 5, None))
}

/// What there is of a session for somebody: the statuses of what is asked of it.
fn met(actor: &mut Actor, session: &str) -> Vec<u16> {
    let at = |rest: &str| format!("/v1/sessions/{session}{rest}");
    let read = ["", "/messages", "/tasks", "/events", "/receipts", "/branches"];
    let mut met: Vec<u16> = read.iter().map(|rest| actor.get(&at(rest)).status).collect();
    let says = json!({"message": super::actors::user("me")});
    met.push(actor.post(&at("/messages"), &says).status);
    met.push(actor.post(&at("/fork"), &json!({})).status);
    met
}

#[test]
fn who_copies_a_session_lets_nobody_in_whom_it_could_not_let_into_the_original() {
    let mut room = Room::new("invite");
    for copy in room.copies() {
        assert_eq!(room.lets_in("bob", "eve", &copy), 403, "{copy}");
        // The copy is his, and what he says of it opens nothing of the original.
        room.opens("bob", &copy, "open");
        assert_eq!(room.lets_in("bob", "eve", &copy), 403, "{copy}");
        assert_eq!(room.lets_in("eve", "eve", &copy), 404, "{copy}");
        assert_eq!(met(&mut room.actors[3], &copy), [404; 8], "{copy}");
        // Whoever is in the original may be let in.
        assert_eq!(room.lets_in("bob", "ann", &copy), 200, "{copy}");
        assert_eq!(room.actors[0].get(&format!("/v1/sessions/{copy}/tasks")).status, 200);
    }
}

#[test]
fn who_is_put_out_of_the_original_loses_every_copy_until_it_is_let_in_again() {
    let mut room = Room::new("invite");
    let (copies, session) = (room.copies(), room.session.clone());
    let replayed = room.actors[1].read(&format!("/v1/sessions/{}/tasks", copies[1]));
    let replay = id(&replayed["data"][0]);
    room.puts_out("bob", &session);
    for copy in &copies {
        assert_eq!(met(&mut room.actors[1], copy), [404; 8], "{copy}");
        let get = json!({"action": "get", "session_id": copy});
        assert_eq!(room.session("bob", &get), 404, "{copy}");
        assert_eq!(room.lets_in("bob", "dan", copy), 404, "{copy}");
    }
    for path in ["", "/events", "/receipts"] {
        assert_eq!(room.actors[1].get(&format!("/v1/tasks/{replay}{path}")).status, 404, "{path}");
    }
    assert_eq!(room.lets_in("ann", "bob", &session), 200);
    let bob = &mut room.actors[1];
    assert_eq!(bob.texts(&copies[2])[0], "canary");
    assert_eq!(bob.get(&format!("/v1/tasks/{replay}")).status, 200);
}

#[test]
fn an_original_that_is_closed_later_closes_its_copies_to_others() {
    let mut room = Room::new("open");
    let (copies, session) = (room.copies(), room.session.clone());
    for copy in &copies {
        assert_eq!(room.lets_in("dan", "dan", copy), 200, "{copy}");
    }
    let closes = json!({"action": "set_policy", "session_id": session,
                        "session": {"policy": {"join": "invite"}}});
    assert_eq!(room.session("ann", &closes), 200);
    for copy in &copies {
        assert_eq!(met(&mut room.actors[3], copy), [404; 8], "{copy}");
        assert_eq!(room.lets_in("bob", "eve", copy), 403, "{copy}");
        let dan = room.actors[2].get(&format!("/v1/sessions/{copy}/tasks"));
        assert_eq!(dan.status, 200, "who came while it was open stays");
    }
}

#[test]
fn who_opened_the_original_lets_whom_it_likes_into_a_copy_of_its_own() {
    let mut room = Room::new("invite");
    let session = room.session.clone();
    let copy = posted(&mut room.actors[0], &format!("/v1/sessions/{session}/replay"), &json!({}));
    let end = json!({"action": "end", "session_id": session});
    assert_eq!(room.session("ann", &end), 200, "also where nobody joins the original any more");
    assert_eq!(room.lets_in("ann", "dan", &copy), 200);
    let dan = &mut room.actors[2];
    assert_eq!(dan.get(&format!("/v1/sessions/{copy}/tasks")).status, 200);
    assert_eq!(dan.texts(&copy), Vec::<String>::new(), "what was said in the original is not his");
    assert_eq!(dan.get(&format!("/v1/sessions/{session}")).status, 404);
    assert_eq!(room.lets_in("dan", "eve", &copy), 403);
}

#[test]
fn who_left_the_original_is_let_into_no_copy_of_it() {
    let mut room = Room::new("invite");
    let session = room.session.clone();
    room.puts_out("bob", &session);
    let copy = id(&room.actors[0].made(&format!("/v1/sessions/{session}/fork"), &json!({})));
    let refused = speaker(&room.server, "ann").say(
        "ann",
        "/v1/session",
        &json!({"action": "join", "session_id": copy, "agent_id": "bob"}),
    );
    assert_eq!((refused.status, refused.code()), (409, "INVALID_TRANSITION".to_owned()));
}
