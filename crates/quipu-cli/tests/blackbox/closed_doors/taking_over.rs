//! Nobody takes over what belongs to somebody else: the session that is there from the start, a Task's outcome, an Artifact
//! that waits for its content, what was said in a session.

use serde_json::{Value, json};

use super::team::{Team, get, post, said};
use crate::support::{Answer, Client, Message, refused};

fn registered(team: &Team, agent: &str) -> Client {
    let mut client = team.client(agent, "4", &[]);
    client.register(agent, "worker");
    client
}

/// Makes a task under an id that the agent chooses.
fn creates(client: &mut Client, agent: &str, id: &str) -> Answer {
    let task = json!({"id": id, "title": "t", "intent": {"purpose": "p"}});
    let payload = json!({"action": "create", "assignee": agent, "task": task});
    client.operate("COORDINATE", agent, payload)
}

#[test]
fn the_session_that_is_there_from_the_start_is_opened_by_nobody() {
    let team = Team::start();
    let mut ana = registered(&team, "ana");
    let session = json!({"goal": "mine", "policy": {"join": "invite"}});
    let create = json!({"action": "create", "session_id": "session_default", "session": session});
    refused(&ana.operate("SESSION", "ana", create), 409, "INVALID_TRANSITION");
    let (status, _) = post(&mut ana, "/v1/sessions/session_default/messages", &said("still open"));
    assert_eq!(status, 201);
}

#[test]
fn no_two_tasks_have_ids_that_share_an_outcome() {
    let team = Team::start();
    let (mut ana, mut bo) = (registered(&team, "ana"), registered(&team, "bo"));
    creates(&mut ana, "ana", "task_budget").ok();
    refused(&creates(&mut bo, "bo", "budget"), 409, "INVALID_TRANSITION");
    creates(&mut bo, "bo", "plan").ok();
    refused(&creates(&mut ana, "ana", "task_plan"), 409, "INVALID_TRANSITION");
}

#[test]
fn an_artifact_that_waits_for_its_content_is_filled_by_who_registered_it() {
    let team = Team::start();
    let (mut ana, mut bo) = (registered(&team, "ana"), registered(&team, "bo"));
    let artifact = json!({"kind": "file", "mime_type": "text/plain", "visibility": "public"});
    let (status, made) = post(&mut ana, "/v1/artifacts", &artifact);
    assert!(status == 200 || status == 201, "{status} {made}");
    let path = format!("/v1/artifacts/{}/content", made["id"].as_str().unwrap());
    assert_eq!(bo.try_request("PUT", &path, b"forged").unwrap().status, 403);
    assert_eq!(ana.try_request("PUT", &path, b"genuine").unwrap().status, 200);
    assert_eq!(bo.get(&path).text(), "genuine");
}

#[test]
fn what_was_said_in_a_session_is_cut_off_by_who_opened_it() {
    let team = Team::start();
    let (mut ana, mut bo) = (registered(&team, "ana"), registered(&team, "bo"));
    let (_, made) = post(&mut ana, "/v1/sessions", &json!({"workspace_id": "workspace_default"}));
    let session = format!("/v1/sessions/{}", made["id"].as_str().unwrap());
    post(&mut ana, &format!("{session}/messages"), &said("keep this"));
    post(&mut bo, &format!("{session}/join"), &json!({}));
    let cut = json!({"keep_first": 0});
    assert_eq!(post(&mut bo, &format!("{session}/truncate"), &cut).0, 403);
    let count = |listed: &Value| listed["data"].as_array().map_or(0, Vec::len);
    assert_eq!(count(&get(&mut ana, &format!("{session}/messages")).1), 1);
    assert_eq!(post(&mut ana, &format!("{session}/truncate"), &cut).0, 200);
}

#[test]
fn a_memory_of_the_session_that_is_there_from_the_start_can_be_read_again() {
    let team = Team::start();
    let mut ana = registered(&team, "ana");
    let memory = json!({
        "scope": "session", "owner_id": "session_default", "content": "Keels are oak.",
        "provenance": {},
    });
    let (status, made) = post(&mut ana, "/v1/memories", &memory);
    assert!(status == 200 || status == 201, "{status} {made}");
    let path = format!("/v1/memories/{}", made["id"].as_str().unwrap());
    assert_eq!(get(&mut ana, &path).0, 200);
}

#[test]
fn a_label_under_which_others_work_is_opened_as_a_session_by_nobody_weak() {
    let team = Team::start();
    let (mut ana, mut bo) = (registered(&team, "ana"), registered(&team, "bo"));
    let task = json!({"id": "t-1", "title": "t", "intent": {"purpose": "p"}});
    let payload = json!({"action": "create", "assignee": "ana", "task": task});
    ana.send(&Message::new("COORDINATE", "ana", payload).with("session_id", "dock")).ok();
    let session = json!({"goal": "mine", "policy": {"join": "invite"}});
    let create = json!({"action": "create", "session_id": "dock", "session": session});
    refused(&bo.operate("SESSION", "bo", create), 409, "INVALID_TRANSITION");
}
