//! A session that was open to all and is closed later: what its units replaced or contested outside is as if they had
//! been recorded in a closed session from the beginning.

use std::sync::Arc;

use quipu_core::Reader;
use quipu_field::Field;
use quipu_log::Engine;
use quipu_wire::{
    ErrorCode,
    akashik::{
        DetectPayload, MergePayload, ReplayPayload, RestorePayload, RetractPayload, UnitStatus,
    },
};
use serde_json::{Value, json};

use crate::{
    coordination::{add, from, session, team},
    support::open,
};
use UnitStatus::{Active, Contested, Superseded};

const TEAM: [(&str, &str, u8); 4] =
    [("lead", "lead", 8), ("ben", "worker", 8), ("out", "worker", 6), ("intern", "intern", 4)];

/// A session that everybody sees.
async fn shown() -> (Arc<dyn Engine>, Arc<Field>) {
    let (engine, field) = team(&TEAM).await;
    create(&field, "sec", json!({"cross_session_visibility": true})).await;
    (engine, field)
}

async fn create(field: &Arc<Field>, id: &str, policy: Value) {
    let payload =
        json!({"action": "create", "session_id": id, "session": {"goal": "g", "policy": policy}});
    session(field, from("lead", None), payload).await.unwrap();
}

async fn set_policy(field: &Arc<Field>, policy: Value) {
    let payload =
        json!({"action": "set_policy", "session_id": "sec", "session": {"policy": policy}});
    session(field, from("lead", None), payload).await.unwrap();
}

fn relation(kind: &str, target: &str) -> Value {
    json!({"content": "x", "relations": [{"type": kind, "target_id": target}]})
}

async fn status(field: &Arc<Field>, unit: &str) -> UnitStatus {
    field.unit(Reader::operator(), unit).await.unwrap().status
}

async fn retract(field: &Arc<Field>, by: quipu_core::Message, unit: &str) -> Result<(), ErrorCode> {
    let payload = json!({"unit_id": unit, "intent": {"purpose": "to test"}});
    let (payload, _) = RetractPayload::parse(payload).unwrap();
    field.retract(by, payload).await.map(drop).map_err(|error| error.code())
}

/// What REPLAY tells an outsider of a unit.
async fn told(field: &Arc<Field>, unit: &str) -> Vec<String> {
    let payload = json!({"target_type": "memory_unit", "target_id": unit, "depth": "full_trace"});
    let (payload, _) = ReplayPayload::parse(payload).unwrap();
    let answer = field.replay(from("out", None), payload).await.unwrap();
    let line = |event: quipu_wire::akashik::ReplayEvent| {
        format!("{} {}", event.event_type, event.description)
    };
    answer.timeline.into_iter().map(line).collect()
}

#[tokio::test]
async fn what_a_session_replaced_outside_comes_back_when_it_is_closed() {
    for policy in [
        json!({}),
        json!({"cross_session_visibility": true,
               "visibility_rules": [{"role": "intern", "deny_types": ["decision"]}]}),
    ] {
        let (engine, field) = shown().await;
        let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
        let by = add(&field, from("lead", Some("sec")), relation("supersedes", &public)).await;
        let by = by.unwrap();
        assert_eq!(status(&field, &public).await, Superseded);
        // Who may join says nothing of who sees.
        set_policy(&field, json!({"cross_session_visibility": true, "join": "invite"})).await;
        assert_eq!(status(&field, &public).await, Superseded);
        set_policy(&field, policy.clone()).await;
        assert_eq!(status(&field, &public).await, Active, "{policy}");
        let told = told(&field, &public).await;
        let back = format!("RESTORE Restored {public}: was superseded, is active");
        assert!(told.iter().any(|line| line.starts_with(&back)), "{told:?}");
        assert!(!told.iter().any(|line| line.contains(&by)), "{told:?}");
        assert_eq!(open(&engine, None).state_hash(), field.state_hash());
        // Open again, it replaces nothing again: as with what came back by a retraction of another.
        set_policy(&field, json!({"cross_session_visibility": true})).await;
        assert_eq!(status(&field, &public).await, Active);
    }
}

#[tokio::test]
async fn what_something_else_replaces_too_stays_replaced() {
    let (_, field) = shown().await;
    let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
    add(&field, from("lead", Some("sec")), relation("supersedes", &public)).await.unwrap();
    let newer = add(&field, from("out", None), relation("supersedes", &public)).await.unwrap();
    set_policy(&field, json!({})).await;
    assert_eq!(status(&field, &public).await, Superseded);
    retract(&field, from("out", None), &newer).await.unwrap();
    assert_eq!(status(&field, &public).await, Active);
}

#[tokio::test]
async fn what_was_contested_from_within_is_contested_no_more() {
    let (_, field) = shown().await;
    let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
    let other = add(&field, from("out", None), json!({"content": "other"})).await.unwrap();
    for unit in [&public, &other] {
        add(&field, from("lead", Some("sec")), relation("contradicts", unit)).await.unwrap();
    }
    add(&field, from("ben", None), relation("contradicts", &other)).await.unwrap();
    assert_eq!(
        (status(&field, &public).await, status(&field, &other).await),
        (Contested, Contested)
    );
    set_policy(&field, json!({})).await;
    assert_eq!((status(&field, &public).await, status(&field, &other).await), (Active, Contested));
}

#[tokio::test]
async fn what_lost_against_a_unit_of_the_session_comes_back() {
    for (strategy, more) in
        [("last_write_wins", json!({})), ("synthesis", json!({"synthesis": "both"}))]
    {
        let (_, field) = shown().await;
        let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
        add(&field, from("lead", Some("sec")), relation("contradicts", &public)).await.unwrap();
        let listing = DetectPayload::parse(json!({"mode": "list"})).unwrap().0;
        let known = field.detect(from("lead", Some("sec")), listing).await.unwrap();
        let mut resolution = json!({"rationale": "r"});
        resolution.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let payload = json!({"conflict_id": known.conflicts[0].id, "strategy": strategy,
                             "resolution": resolution});
        let (payload, _) = MergePayload::parse(payload).unwrap();
        field.merge(from("lead", Some("sec")), payload).await.unwrap();
        assert_eq!(status(&field, &public).await, Superseded, "{strategy}");
        set_policy(&field, json!({})).await;
        assert_eq!(status(&field, &public).await, Active, "{strategy}");
    }
}

#[tokio::test]
async fn rules_that_come_later_bring_back_what_was_replaced_within_the_session() {
    let (_, field) = team(&TEAM).await;
    create(&field, "sec", json!({})).await;
    let lead = || from("lead", Some("sec"));
    let old = add(&field, lead(), json!({"content": "old"})).await.unwrap();
    let like = add(&field, lead(), json!({"content": "like"})).await.unwrap();
    let decision = json!({"type": "decision", "content": "x",
                          "relations": [{"type": "supersedes", "target_id": old}]});
    add(&field, lead(), decision).await.unwrap();
    add(&field, lead(), relation("supersedes", &like)).await.unwrap();
    set_policy(
        &field,
        json!({"visibility_rules": [{"role": "intern", "deny_types": ["decision"]}]}),
    )
    .await;
    // An intern sees the finding that replaced a finding, and not the decision.
    assert_eq!((status(&field, &old).await, status(&field, &like).await), (Active, Superseded));
}

#[tokio::test]
async fn a_label_that_becomes_a_session_with_rules_is_narrowed_by_them() {
    let (_, field) = team(&TEAM).await;
    let out = || from("out", Some("sec"));
    let old = add(&field, out(), json!({"content": "old"})).await.unwrap();
    let decision = json!({"type": "decision", "content": "x",
                          "relations": [{"type": "supersedes", "target_id": old}]});
    add(&field, out(), decision).await.unwrap();
    assert_eq!(status(&field, &old).await, Superseded);
    create(
        &field,
        "sec",
        json!({"visibility_rules": [{"role": "intern", "deny_types": ["decision"]}]}),
    )
    .await;
    assert_eq!(status(&field, &old).await, Active);
}

#[tokio::test]
async fn opening_a_session_gives_its_units_no_right_that_they_had_not() {
    let (_, field) = team(&TEAM).await;
    let hold = json!({"action": "create", "session_id": "his",
                      "session": {"goal": "g", "policy": {}}});
    session(&field, from("intern", None), hold).await.unwrap();
    let public = add(&field, from("ben", None), json!({"content": "public"})).await.unwrap();
    add(&field, from("intern", Some("his")), relation("supersedes", &public)).await.unwrap();
    let open = json!({"action": "set_policy", "session_id": "his",
                      "session": {"policy": {"cross_session_visibility": true}}});
    session(&field, from("intern", None), open).await.unwrap();
    assert_eq!(status(&field, &public).await, Active);
    retract(&field, from("ben", None), &public).await.unwrap();
    let payload = json!({"unit_ids": [public], "intent": {"purpose": "to test"}});
    let (payload, _) = RestorePayload::parse(payload).unwrap();
    field.restore(from("ben", None), payload).await.unwrap();
    // The two disagree, and that is all.
    assert_ne!(status(&field, &public).await, Superseded);
}
