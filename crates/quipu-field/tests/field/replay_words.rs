//! REPLAY in words: what a task was and why it moved, what disagreed, who voted for what.

use std::sync::Arc;

use crate::{
    coordination::{add, coordinate, from, make, team},
    support::message,
};
use quipu_field::Field;
use quipu_wire::akashik::{DetectPayload, MergePayload, ReplayPayload, ReplayResponse};
use serde_json::json;

const TEAM: [(&str, &str, u8); 2] = [("a", "r", 10), ("b", "r", 10)];

pub(crate) async fn replay(field: &Arc<Field>, kind: &str, id: &str) -> ReplayResponse {
    let payload = json!({"target_type": kind, "target_id": id, "depth": "detailed"});
    let (payload, _) = ReplayPayload::parse(payload).unwrap();
    field.replay(message("replay", "a"), payload).await.unwrap()
}

pub(crate) fn descriptions(answer: &ReplayResponse) -> Vec<&str> {
    answer.timeline.iter().map(|event| event.description.as_str()).collect()
}

#[tokio::test]
async fn a_task_is_told_by_its_title_and_by_why_it_was_blocked_and_failed() {
    let (_, field) = team(&TEAM).await;
    make(&field, from("a", None), "t", json!({})).await;
    for (action, reason) in [
        ("claim", ""),
        ("start", ""),
        ("block", "no key for the API"),
        ("unblock", ""),
        ("fail", "too late"),
    ] {
        let mut payload = json!({"action": action, "task_id": "t"});
        if !reason.is_empty() {
            payload["reason"] = json!(reason);
        }
        coordinate(&field, from("b", None), payload).await.unwrap();
    }
    let answer = replay(&field, "task", "t").await;
    assert_eq!(
        descriptions(&answer),
        [
            "Task t: created: a title",
            "Task t: claimed, pending -> assigned",
            "Task t: started, assigned -> in_progress",
            "Task t: blocked, in_progress -> blocked: no key for the API",
            "Task t: unblocked, blocked -> in_progress",
            "Task t: failed, in_progress -> failed: too late",
        ]
    );
    for told in [
        "The task \"a title\", made by a at epoch 3 for: a purpose.",
        "Blocked by b at epoch 6, because: no key for the API.",
        "Given up by b at epoch 8, because: too late.",
    ] {
        assert!(answer.summary.contains(told), "{told}: {}", answer.summary);
    }
    assert!(answer.summary.ends_with("Besides: 6 task moves."), "{}", answer.summary);
}

async fn vote(field: &Arc<Field>, agent: &str, conflict: &str, unit: &str, why: &str) {
    let payload = json!({"conflict_id": conflict, "strategy": "vote",
                         "resolution": {"winner_id": unit, "rationale": why}});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    field.merge(from(agent, None), payload).await.unwrap();
}

#[tokio::test]
async fn a_vote_is_told_with_the_choices_their_reasons_and_the_winner() {
    let (_, field) = team(&TEAM).await;
    let first = add(&field, from("a", None), json!({"content": "23% CAGR"})).await.unwrap();
    let against = json!([{"type": "contradicts", "target_id": first}]);
    let second = json!({"content": "14% CAGR", "relations": against});
    add(&field, from("b", None), second).await.unwrap();
    let (all, _) = DetectPayload::parse(json!({"mode": "list"})).unwrap();
    let conflict = field.detect(from("a", None), all).await.unwrap().conflicts[0].id.clone();
    vote(&field, "a", &conflict, &first, "three reports agree").await;
    vote(&field, "b", &conflict, &first, "mine was a typo").await;

    let answer = replay(&field, "conflict", &conflict).await;
    let voted = format!("Voted for {first}: mine was a typo");
    assert!(descriptions(&answer).contains(&voted.as_str()), "{answer:?}");
    for said in [
        "a voted for \"23% CAGR\", because: three reports agree.",
        "b voted for \"23% CAGR\", because: mine was a typo.",
        "\"23% CAGR\" prevails, because: mine was a typo.",
    ] {
        assert!(answer.summary.contains(said), "{said}: {}", answer.summary);
    }
}
