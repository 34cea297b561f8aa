//! REPLAY of what has very many events: bounded in time, memory and words, and by importance, not by position.

use crate::{
    coordination::{add, from, team},
    support::message,
};
use quipu_wire::{
    ErrorCode,
    akashik::{RecordsPayload, ReplayPayload, ReplayResponse},
};
use serde_json::json;

/// More than one answer may carry.
const UNITS: usize = 10_240;
const AT_ONCE: usize = 256;

#[tokio::test]
async fn a_task_of_ten_thousand_units_is_told_by_what_was_decided_for_it() {
    let (_, field) = team(&[("a", "r", 10)]).await;
    for batch in 0..UNITS / AT_ONCE {
        let unit = |number: usize| {
            // One decision, somewhere in the middle.
            let number = batch * AT_ONCE + number;
            let kind = if number == 5_000 { "decision" } else { "observation" };
            json!({"type": kind, "content": format!("entry {number}"),
                   "intent": {"purpose": "to log", "task_id": "t"},
                   "confidence": {"score": 0.5, "reasoning": format!("reason {number}")}})
        };
        let units: Vec<_> = (0..AT_ONCE).map(unit).collect();
        let (payload, ..) = RecordsPayload::parse(json!({"units": units})).unwrap();
        field.record_all(message(&format!("all-{batch}"), "a"), payload).await.unwrap();
    }
    let ask = |depth: &str| {
        let payload = json!({"target_type": "task", "target_id": "t", "depth": depth});
        ReplayPayload::parse(payload).unwrap().0
    };
    for depth in ["full_trace", "detailed"] {
        let refused = field.replay(from("a", None), ask(depth)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::ReplayTooLarge);
    }
    let told = field.replay(from("a", None), ask("summary")).await.unwrap();
    assert_eq!(told.total_events, UNITS as u64);
    assert!(told.summary.chars().count() < 6_300, "{}", told.summary);
    for said in
        ["a's decision \"entry 5000\", epoch ", "because: reason 5000.", "Besides: 10230 more"]
    {
        assert!(told.summary.contains(said), "{said}: {}", told.summary);
    }
}

#[tokio::test]
async fn a_chain_is_told_from_its_end_however_long_it_is() {
    let (_, field) = team(&[("a", "r", 10)]).await;
    let (mut last, mut told) = (String::new(), Vec::<ReplayResponse>::new());
    for number in 0..=600 {
        let mut unit = json!({"content": format!("link {number}")});
        if number > 0 {
            unit["relations"] = json!([{"type": "depends_on", "target_id": last}]);
        }
        last = add(&field, from("a", None), unit).await.unwrap();
        if number == 60 || number == 600 {
            let payload =
                json!({"target_type": "memory_unit", "target_id": last, "depth": "summary"});
            let (payload, _) = ReplayPayload::parse(payload).unwrap();
            told.push(field.replay(from("a", None), payload).await.unwrap());
        }
    }
    let [short, long] = &told[..] else { panic!("{told:?}") };
    assert_eq!((short.total_events, long.total_events), (61, 601));
    assert!(long.summary.len() < short.summary.len() + 60, "{}", long.summary);
    for number in 594..=600 {
        assert!(long.summary.contains(&format!("\"link {number}\"")), "{}", long.summary);
    }
}
