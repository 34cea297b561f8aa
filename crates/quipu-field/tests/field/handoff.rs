//! HANDOFF by its rules: the package that the Field completes, the answers, and whose the task is then.

use crate::{
    coordination::{act, add, agent, from, handoff, make, session, team},
    support::message,
};
use quipu_wire::{
    ErrorCode,
    akashik::{AgentStatus, DeregisterPayload, HandoffStatus, TaskStatus},
};
use serde_json::{Value, json};

const TEAM: [(&str, &str, u8); 3] = [("a", "worker", 4), ("b", "worker", 4), ("c", "worker", 4)];

fn offer(task: &str, to: &str) -> Value {
    json!({"action": "offer", "task_id": task, "to_agent": to, "reason": "my shift ends",
           "context": {"summary": "half done", "next_steps": ["count again"],
                       "open_questions": ["who pays?"]}})
}

fn answer(id: &str, action: &str) -> Value {
    json!({"action": action, "handoff_id": id})
}

#[tokio::test]
async fn the_field_completes_the_package_and_accepting_moves_the_task() {
    let (engine, field) = team(&TEAM).await;
    make(&field, from("a", None), "t", json!({"assignee": "a"})).await;
    act(&field, from("a", None), "t", "start").await.unwrap();
    let of_task = json!({"purpose": "p", "task_id": "t"});
    let old = add(&field, from("a", None), json!({"intent": of_task})).await.unwrap();
    let question =
        |content: &str| json!({"type": "question", "content": content, "intent": of_task});
    let open = add(&field, from("a", None), question("how many?")).await.unwrap();
    let closed = add(&field, from("a", None), question("how much?")).await.unwrap();
    let answers = json!([{"type": "answers", "target_id": closed}]);
    let reply = json!({"intent": of_task, "relations": answers});
    let reply = add(&field, from("b", None), reply).await.unwrap();
    let against = json!({"relations": [{"type": "contradicts", "target_id": old}]});
    add(&field, from("c", None), against).await.unwrap();
    let offered = handoff(&field, from("a", None), offer("t", "b")).await.unwrap();
    assert_eq!(offered.status, "offered");
    let offered = offered.handoff.unwrap();
    assert_eq!(offered.context.memory_unit_ids, [old, open, closed, reply]);
    assert_eq!(offered.context.open_questions, ["who pays?", "how many?"]);
    assert_eq!(offered.context.conflict_ids.len(), 1);
    assert_eq!(offered.context.next_steps, ["count again"]);
    assert_eq!((offered.reason.as_str(), offered.to_agent.as_str()), ("my shift ends", "b"));
    let accepted = handoff(&field, from("b", None), answer(&offered.id, "accept")).await.unwrap();
    assert_eq!(accepted.status, "accepted");
    assert_eq!(agent(&field, "a").status, AgentStatus::Idle);
    let task = act(&field, from("b", None), "t", "start").await.unwrap();
    assert_eq!((task.status, task.assigned_to.as_deref()), (TaskStatus::InProgress, Some("b")));
    assert_eq!(agent(&field, "b").current_task_id.as_deref(), Some("t"));
    assert_eq!(crate::support::open(&engine, None).state_hash(), field.state_hash());
}

#[tokio::test]
async fn a_task_that_is_only_a_name_can_be_handed_over_too() {
    let (_, field) = team(&TEAM).await;
    let offered = handoff(&field, from("a", None), offer("opaque", "b")).await.unwrap();
    let id = offered.handoff.unwrap().id;
    let reject = json!({"action": "reject", "handoff_id": id, "reason": "no time"});
    let rejected = handoff(&field, from("b", None), reject).await.unwrap();
    assert_eq!(rejected.status, "rejected");
    assert_eq!(rejected.handoff.unwrap().answer.as_deref(), Some("no time"));
    handoff(&field, from("a", None), offer("opaque", "c")).await.unwrap();
}

#[tokio::test]
async fn every_pair_of_status_and_answer_goes_as_the_table_says() {
    let (_, field) = team(&TEAM).await;
    let by = |action: &str| if action == "cancel" { "a" } else { "b" };
    let word = |action: &str| match action {
        "accept" => "accepted",
        "reject" => "rejected",
        _ => "cancelled",
    };
    for first in ["", "accept", "reject", "cancel"] {
        for then in ["accept", "reject", "cancel"] {
            let task = format!("{first}-{then}");
            let offered = handoff(&field, from("a", None), offer(&task, "b")).await.unwrap();
            let id = offered.handoff.unwrap().id;
            if !first.is_empty() {
                handoff(&field, from(by(first), None), answer(&id, first)).await.unwrap();
            }
            let moved = handoff(&field, from(by(then), None), answer(&id, then)).await;
            let moved = moved.map(|answer| answer.status).map_err(|error| error.code());
            let expected = if first.is_empty() {
                Ok(word(then).to_owned())
            } else {
                Err(ErrorCode::InvalidTransition)
            };
            assert_eq!(moved, expected, "{then} after {first}");
        }
    }
}

#[tokio::test]
async fn only_who_has_a_part_in_it_learns_of_a_handoff_and_only_the_other_answers() {
    let (_, field) = team(&TEAM).await;
    let offered = handoff(&field, from("a", None), offer("t", "b")).await.unwrap();
    let id = offered.handoff.unwrap().id;
    let refused = handoff(&field, from("c", None), answer(&id, "accept")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnitNotFound);
    let refused = handoff(&field, from("a", None), answer(&id, "accept")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    let refused = handoff(&field, from("b", None), answer(&id, "cancel")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    for (who, count) in [("a", 1), ("b", 1), ("c", 0)] {
        let listed = handoff(&field, from(who, None), json!({"action": "list"})).await.unwrap();
        assert_eq!(listed.handoffs.unwrap().len(), count, "{who}");
    }
}

#[tokio::test]
async fn what_cannot_be_handed_over_is_not_offered() {
    let (_, field) = team(&TEAM).await;
    let code = async |payload: Value| {
        handoff(&field, from("a", None), payload).await.map_err(|error| error.code()).err()
    };
    assert_eq!(code(offer("t", "nobody")).await, Some(ErrorCode::UnitNotFound));
    assert_eq!(code(offer("t", "a")).await, Some(ErrorCode::InvalidTransition));
    assert_eq!(code(offer("t", "b")).await, None);
    assert_eq!(code(offer("t", "c")).await, Some(ErrorCode::InvalidTransition));
    make(&field, from("b", None), "theirs", json!({"assignee": "b"})).await;
    assert_eq!(code(offer("theirs", "c")).await, Some(ErrorCode::InsufficientAuthority));
    make(&field, from("a", None), "over", json!({})).await;
    act(&field, from("a", None), "over", "cancel").await.unwrap();
    assert_eq!(code(offer("over", "b")).await, Some(ErrorCode::InvalidTransition));
    let mut with_context = offer("other", "b");
    with_context["context"]["memory_unit_ids"] = json!(["mem-nope"]);
    assert_eq!(code(with_context).await, Some(ErrorCode::UnitNotFound));
}

#[tokio::test]
async fn an_offer_runs_out_when_its_agent_or_its_task_is_gone() {
    let (_, field) = team(&TEAM).await;
    make(&field, from("a", None), "t", json!({"assignee": "a"})).await;
    for task in ["t", "u"] {
        handoff(&field, from("a", None), offer(task, "b")).await.unwrap();
    }
    act(&field, from("a", None), "t", "cancel").await.unwrap();
    let bye = DeregisterPayload { agent_id: "b".to_owned() };
    field.deregister(message("bye", "b"), bye).await.unwrap();
    let listed = handoff(&field, from("a", None), json!({"action": "list"})).await.unwrap();
    let status: Vec<_> =
        listed.handoffs.unwrap().into_iter().map(|handoff| handoff.status).collect();
    assert_eq!(status, [HandoffStatus::Expired, HandoffStatus::Expired]);
}

#[tokio::test]
async fn who_is_not_in_the_session_is_not_handed_its_tasks() {
    let (_, field) = team(&TEAM).await;
    let create = json!({"action": "create", "session_id": "s", "session": {"goal": "g"}});
    session(&field, from("a", None), create).await.unwrap();
    let refused = handoff(&field, from("a", Some("s")), offer("t", "b")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
}
