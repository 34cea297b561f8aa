//! What is hidden in one protocol is hidden in the other.

use serde_json::{Value, json};

use super::team::{Team, get, post, said};
use crate::support::{Client, Message, finding};

/// Records in a session, or under a label; the unit's id.
fn record_in(client: &mut Client, agent: &str, session: &str, content: &str) -> String {
    let message = Message::new("RECORD", agent, finding(content)).with("session_id", session);
    client.send(&message).ok()["memory_unit_id"].as_str().unwrap().to_owned()
}

fn id_of(answer: &(u16, Value)) -> String {
    answer.1["id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// The ids of a list.
fn ids(client: &mut Client, path: &str) -> Vec<String> {
    let (status, list) = get(client, path);
    assert_eq!(status, 200, "{path}: {list}");
    let data = list["data"].as_array().unwrap();
    data.iter().map(|each| each["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_key_that_may_read_nothing_reads_nothing_by_the_harn_protocol_either() {
    let team = Team::start();
    team.operator().record("operator", finding("for observers"));
    let mut auditor = team.client("auditor", "0", &[]);
    assert_eq!(get(&mut auditor, "/v1/units").0, 403);
    for path in ["/v1/tasks", "/v1/events", "/v1/sessions", "/v1/sessions/session_default/messages"]
    {
        let (status, answer) = get(&mut auditor, path);
        assert_eq!(status, 403, "{path}: {answer}");
        assert_eq!(answer["error"]["code"], "permission_denied", "{path}");
    }
    let (status, listed) = get(&mut auditor, "/v1/memories");
    let nothing = status == 403 || listed["data"] == json!([]);
    assert!(nothing, "{status}: {listed}");
}

#[test]
fn what_is_in_an_open_session_is_for_its_members() {
    let team = Team::start();
    let mut ada = team.client("ada", "6", &[]);
    let session =
        id_of(&post(&mut ada, "/v1/sessions", &json!({"workspace_id": "workspace_default"})));
    let path = format!("/v1/sessions/{session}");
    let message = id_of(&post(&mut ada, &format!("{path}/messages"), &said("among us")));
    let task = json!({"input": "look", "session_id": session});
    let task = id_of(&post(&mut ada, "/v1/tasks", &task));
    let mut bob = team.client("bob", "6", &[]);
    assert_eq!(get(&mut bob, &path).0, 200, "anybody may know of it, and join");
    for part in ["messages", "events", "tasks", "branches"] {
        let (status, answer) = get(&mut bob, &format!("{path}/{part}"));
        assert_eq!(status, 403, "{part}: {answer}");
    }
    for hidden in [format!("/v1/messages/{message}"), format!("/v1/tasks/{task}")] {
        assert_eq!(get(&mut bob, &hidden).0, 404, "{hidden}");
    }
    assert!(!ids(&mut bob, "/v1/tasks").contains(&task));
    let (_, events) = get(&mut bob, "/v1/events");
    assert!(!events.to_string().contains(&session), "{events}");
    bob.register("bob", "r");
    bob.operate("SESSION", "bob", json!({"action": "join", "session_id": session})).ok();
    assert_eq!(ids(&mut bob, &format!("{path}/messages"))[0], message);
    assert_eq!(get(&mut bob, &format!("/v1/tasks/{task}")).0, 200);
}

#[test]
fn authority_8_reads_in_no_session_that_it_was_not_invited_to() {
    let team = Team::start();
    let mut ada = team.client("ada", "6", &[]);
    ada.register("ada", "r");
    let policy = json!({"goal": "g", "policy": {"join": "invite"}});
    let create = json!({"action": "create", "session_id": "closed", "session": policy});
    ada.operate("SESSION", "ada", create).ok();
    let unit = record_in(&mut ada, "ada", "closed", "among us");
    let path = "/v1/sessions/closed/messages";
    let message = id_of(&post(&mut ada, path, &said("among us")));
    let mut chief = team.client("chief", "8", &[]);
    chief.register("chief", "r");
    let member = get(&mut chief, path);
    assert_eq!(member.0, 403, "{}", member.1);
    assert_eq!(get(&mut chief, &format!("/v1/messages/{message}")).0, 404);
    assert_eq!(get(&mut chief, &format!("/v1/memories/{unit}")).0, 404);
    assert_eq!(get(&mut chief, &format!("/v1/units/{unit}")).0, 404);
    let mut stranger = team.client("stranger", "6", &[]);
    assert_eq!(get(&mut stranger, path).0, 404, "that there is one is no business of its");
}

#[test]
fn a_unit_under_a_free_label_is_not_found_by_its_id_alone() {
    let team = Team::start();
    let mut ada = team.client("ada", "4", &[]);
    ada.register("ada", "r");
    let unit = record_in(&mut ada, "ada", "a-label-that-few-know", "labelled");
    let key = team.key("bob", "4", &[]);
    let mut bob = team.with_key(&key);
    for path in [format!("/v1/units/{unit}"), format!("/v1/memories/{unit}")] {
        assert_eq!(get(&mut bob, &path).0, 404, "{path}");
    }
    let mut knows = team.with_key(&key).with_header("Akashik-Session", "a-label-that-few-know");
    for path in [format!("/v1/units/{unit}"), format!("/v1/memories/{unit}")] {
        assert_eq!(get(&mut knows, &path).0, 200, "{path}");
    }
    let listed = ids(&mut bob, "/v1/memories?session_id=a-label-that-few-know");
    assert_eq!(listed, [unit]);
}

#[test]
fn what_was_noted_of_a_hidden_task_is_replayed_to_nobody_outside() {
    let team = Team::start();
    let mut ada = team.client("ada", "6", &[]);
    ada.register("ada", "r");
    let policy = json!({"goal": "g", "policy": {"join": "invite"}});
    let create = json!({"action": "create", "session_id": "closed", "session": policy});
    ada.operate("SESSION", "ada", create).ok();
    let task = json!({"id": "payroll", "title": "t", "intent": {"purpose": "p"}});
    let message = Message::new("COORDINATE", "ada", json!({"action": "create", "task": task}));
    ada.send(&message.with("session_id", "closed")).ok();
    post(&mut ada, "/v1/tasks/payroll/claim", &json!({}));
    let answer = json!({"key": "mcp:bank:let-carol-go", "kind": "mcp_tool_return", "value": 1});
    assert_eq!(post(&mut ada, "/v1/tasks/payroll/dependencies", &answer).0, 201);
    let asked = json!({"target_type": "task", "target_id": "payroll", "depth": "full_trace"});
    assert!(post(&mut ada, "/v1/replay", &asked).1.to_string().contains("carol"));
    for (name, authority) in [("mallory", "4"), ("zed", "0"), ("eve", "8")] {
        let mut outside = team.client(name, authority, &[]);
        outside.register(name, "r");
        let (_, told) = post(&mut outside, "/v1/replay", &asked);
        assert!(!told.to_string().contains("carol"), "{name}: {told}");
    }
}
