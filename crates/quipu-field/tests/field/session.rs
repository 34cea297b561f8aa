//! SESSION by its rules: every pair of its state machine, who may, what a pause and an end mean.

use crate::{
    coordination::{act, add, agent, from, make, seen, session, team},
    support::message,
};
use quipu_wire::{
    ErrorCode,
    akashik::{AgentStatus, SessionStatus, TaskStatus},
};
use serde_json::{Value, json};

fn create(id: &str, policy: &Value) -> Value {
    json!({"action": "create", "session_id": id, "session": {"goal": "a goal", "policy": policy}})
}

fn on(id: &str, action: &str) -> Value {
    json!({"action": action, "session_id": id, "session": {"policy": {}}})
}

#[tokio::test]
async fn every_pair_of_status_and_action_goes_as_the_table_says() {
    use SessionStatus::{Active, Ended, Paused};
    let (_, field) = team(&[("a", "worker", 4)]).await;
    let actions = ["join", "leave", "pause", "resume", "end", "set_policy"];
    let table = [
        (
            Active,
            vec![],
            [Some(Active), Some(Active), Some(Paused), None, Some(Ended), Some(Active)],
        ),
        (
            Paused,
            vec!["pause"],
            [Some(Paused), Some(Paused), None, Some(Active), Some(Ended), Some(Paused)],
        ),
        (Ended, vec!["end"], [None; 6]),
    ];
    for (status, path, expected) in table {
        for (action, expected) in actions.into_iter().zip(expected) {
            let id = format!("{status}-{action}");
            session(&field, from("a", None), create(&id, &json!({}))).await.unwrap();
            for step in &path {
                session(&field, from("a", None), on(&id, step)).await.unwrap();
            }
            let moved = session(&field, from("a", None), on(&id, action)).await;
            let moved = moved.map(|answer| answer.session.unwrap().status);
            let expected = expected.ok_or(ErrorCode::InvalidTransition);
            assert_eq!(moved.map_err(|error| error.code()), expected, "{action} when {status}");
        }
    }
}

#[tokio::test]
async fn a_session_comes_back_as_it_was_made() {
    let (engine, field) = team(&[("a", "worker", 4), ("b", "worker", 2)]).await;
    let made = json!({"action": "create", "session": {"goal": "find out"}});
    let made = session(&field, message("s", "a"), made).await.unwrap().session.unwrap();
    assert!(made.id.starts_with("session-"), "{}", made.id);
    assert_eq!((made.goal.as_str(), made.creator.as_str()), ("find out", "a"));
    assert_eq!(
        (made.members.as_slice(), made.status),
        (&["a".to_owned()][..], SessionStatus::Active)
    );
    let joined = session(&field, from("b", None), on(&made.id, "join")).await.unwrap();
    assert_eq!(joined.session.unwrap().members, ["a", "b"]);
    let again = session(&field, from("b", None), on(&made.id, "join")).await.unwrap();
    assert_eq!(again.session.unwrap().members, ["a", "b"]);
    let listed = session(&field, from("b", None), json!({"action": "list"})).await.unwrap();
    assert_eq!(listed.sessions.unwrap().len(), 1);
    assert_eq!(crate::support::open(&engine, None).state_hash(), field.state_hash());
}

#[tokio::test]
async fn only_the_creator_and_authority_8_pause_end_and_rule() {
    let agents = [("a", "worker", 4), ("b", "worker", 6), ("boss", "boss", 8), ("o", "o", 2)];
    let (_, field) = team(&agents).await;
    let code = async |by: &str, payload: Value| {
        session(&field, from(by, None), payload).await.map_err(|error| error.code()).err()
    };
    assert_eq!(code("o", create("s", &json!({}))).await, Some(ErrorCode::InsufficientAuthority));
    assert_eq!(code("a", create("s", &json!({}))).await, None);
    assert_eq!(code("b", create("s", &json!({}))).await, Some(ErrorCode::InvalidTransition));
    for action in ["pause", "end", "set_policy"] {
        let refused = code("b", on("s", action)).await;
        assert_eq!(refused, Some(ErrorCode::InsufficientAuthority), "{action}");
    }
    assert_eq!(code("boss", on("s", "pause")).await, None);
    assert_eq!(code("a", on("s", "resume")).await, None);
    assert_eq!(code("a", on("nowhere", "pause")).await, Some(ErrorCode::UnitNotFound));
}

#[tokio::test]
async fn who_was_not_invited_cannot_join_nor_learn_of_the_session() {
    let (_, field) = team(&[("a", "worker", 4), ("b", "worker", 4)]).await;
    session(&field, from("a", None), create("s", &json!({"join": "invite"}))).await.unwrap();
    for action in ["join", "get", "pause"] {
        let refused = session(&field, from("b", None), on("s", action)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnitNotFound, "{action}");
    }
    let listed = session(&field, from("b", None), json!({"action": "list"})).await.unwrap();
    assert_eq!(listed.sessions, Some(Vec::new()));
    let invite = json!({"action": "join", "session_id": "s", "agent_id": "b"});
    session(&field, from("a", None), invite).await.unwrap();
    session(&field, from("b", None), on("s", "get")).await.unwrap();
}

#[tokio::test]
async fn a_label_that_units_carry_is_not_taken_over_by_a_session() {
    let (_, field) = team(&[("a", "worker", 4), ("b", "worker", 4), ("boss", "boss", 8)]).await;
    add(&field, from("a", Some("label")), json!({})).await.unwrap();
    let refused = session(&field, from("b", None), create("label", &json!({}))).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    session(&field, from("boss", None), create("label", &json!({}))).await.unwrap();
}

#[tokio::test]
async fn a_paused_session_is_read_and_not_written() {
    let (_, field) = team(&[("a", "worker", 4)]).await;
    session(&field, from("a", None), create("s", &json!({}))).await.unwrap();
    add(&field, from("a", Some("s")), json!({"content": "before"})).await.unwrap();
    make(&field, from("a", Some("s")), "t", json!({})).await;
    session(&field, from("a", None), on("s", "pause")).await.unwrap();
    let refused = add(&field, from("a", Some("s")), json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    let refused = act(&field, from("a", Some("s")), "t", "claim").await.unwrap_err();
    assert_eq!(refused, ErrorCode::InvalidTransition);
    assert_eq!(seen(&field, from("a", Some("s"))).await.unwrap(), ["before"]);
    session(&field, from("a", None), on("s", "resume")).await.unwrap();
    add(&field, from("a", Some("s")), json!({"content": "after"})).await.unwrap();
}

#[tokio::test]
async fn an_ended_session_cancels_its_tasks_and_can_be_read_by_its_members() {
    let (_, field) = team(&[("a", "worker", 4)]).await;
    session(&field, from("a", None), create("s", &json!({}))).await.unwrap();
    add(&field, from("a", Some("s")), json!({"content": "kept"})).await.unwrap();
    make(&field, from("a", Some("s")), "t", json!({"assignee": "a"})).await;
    make(&field, from("a", None), "elsewhere", json!({})).await;
    act(&field, from("a", None), "t", "start").await.unwrap();
    assert_eq!(agent(&field, "a").status, AgentStatus::Working);
    let ended = session(&field, from("a", None), on("s", "end")).await.unwrap().session.unwrap();
    assert_eq!(ended.status, SessionStatus::Ended);
    assert!(ended.epoch_ended > Some(ended.epoch_created));
    assert_eq!(agent(&field, "a").status, AgentStatus::Idle);
    let refused = act(&field, from("a", None), "t", "retry").await.unwrap_err();
    assert_eq!(refused, ErrorCode::InvalidTransition);
    let elsewhere = act(&field, from("a", None), "elsewhere", "claim").await.unwrap();
    assert_eq!(elsewhere.status, TaskStatus::Assigned);
    assert_eq!(seen(&field, from("a", Some("s"))).await.unwrap(), ["kept"]);
    let refused = add(&field, from("a", Some("s")), json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
}
