//! Sessions that take no writes, at all or from somebody: nothing that was recorded in them is changed either, by whatever
//! operation.

use std::sync::Arc;

use quipu_core::{Message, Reader};
use quipu_field::Field;
use quipu_wire::{
    ErrorCode,
    akashik::{CompactPayload, RestorePayload, RetractPayload, UnitStatus},
};
use serde_json::{Value, json};

use crate::coordination::{add, from, session, team};
use ErrorCode::{InsufficientAuthority, InvalidTransition};

const TEAM: [(&str, &str, u8); 4] =
    [("lead", "lead", 8), ("ben", "worker", 6), ("out", "worker", 8), ("root", "operator", 10)];

/// A session of `lead` that everybody sees, with `ben`, and two units of his: one of them he withdrew.
async fn room() -> (Arc<Field>, [String; 2]) {
    let (_, field) = team(&TEAM).await;
    let create = json!({"action": "create", "session_id": "sec", "session": {"goal": "g",
        "policy": {"join": "invite", "cross_session_visibility": true}}});
    session(&field, from("lead", None), create).await.unwrap();
    on(&field, "join").await;
    let unit = add(&field, from("ben", Some("sec")), json!({"content": "stands"})).await.unwrap();
    let gone = add(&field, from("ben", Some("sec")), json!({"content": "gone"})).await.unwrap();
    retract(&field, from("ben", None), &gone).await.unwrap();
    (field, [unit, gone])
}

/// What `lead` does with the session, or with `ben` in it.
async fn on(field: &Arc<Field>, action: &str) {
    let mut payload = json!({"action": action, "session_id": "sec"});
    if ["join", "leave"].contains(&action) {
        payload["agent_id"] = json!("ben");
    }
    session(field, from("lead", None), payload).await.unwrap();
}

async fn retract(field: &Arc<Field>, by: Message, unit: &str) -> Result<(), ErrorCode> {
    let payload = json!({"unit_id": unit, "intent": {"purpose": "to test"}});
    let (payload, _) = RetractPayload::parse(payload).unwrap();
    field.retract(by, payload).await.map(drop).map_err(|error| error.code())
}

async fn restore(field: &Arc<Field>, by: Message, unit: &str) -> Result<(), ErrorCode> {
    let payload = json!({"unit_ids": [unit], "intent": {"purpose": "to test"}});
    let (payload, _) = RestorePayload::parse(payload).unwrap();
    field.restore(by, payload).await.map(drop).map_err(|error| error.code())
}

/// How many units an archiving takes.
async fn archive(field: &Arc<Field>, by: Message, filter: Value) -> Result<u64, ErrorCode> {
    let (payload, _) =
        CompactPayload::parse(json!({"strategy": "archive", "filter": filter})).unwrap();
    let answer = field.compact(by, payload).await;
    answer.map(|answer| answer.units_affected).map_err(|error| error.code())
}

async fn status(field: &Arc<Field>, unit: &str) -> UnitStatus {
    field.unit(Reader::operator(), unit).await.unwrap().status
}

fn relation(kind: &str, target: &str) -> Value {
    json!({"content": "x", "relations": [{"type": kind, "target_id": target}]})
}

#[tokio::test]
async fn an_author_withdraws_and_brings_back_nothing_where_it_may_not_write() {
    let cases = [
        ("pause", InvalidTransition),
        ("end", InvalidTransition),
        ("leave", InsufficientAuthority),
    ];
    for (action, code) in cases {
        let (field, [unit, gone]) = room().await;
        on(&field, action).await;
        for place in [None, Some("sec")] {
            let refused = retract(&field, from("ben", place), &unit).await;
            assert_eq!(refused, Err(code), "{action}");
            assert_eq!(restore(&field, from("ben", place), &gone).await, Err(code), "{action}");
        }
        // Who overrules everybody may: else what is wrong in a session that is over stays for ever.
        assert_eq!(retract(&field, from("root", None), &unit).await, Ok(()), "{action}");
        assert_eq!(restore(&field, from("root", None), &unit).await, Ok(()), "{action}");
    }
}

#[tokio::test]
async fn what_is_paused_or_over_is_neither_replaced_nor_contested_from_outside() {
    for action in ["pause", "end"] {
        for kind in ["supersedes", "contradicts"] {
            let (field, [unit, _]) = room().await;
            on(&field, action).await;
            add(&field, from("out", None), relation(kind, &unit)).await.unwrap();
            assert_eq!(status(&field, &unit).await, UnitStatus::Active, "{action} {kind}");
        }
    }
}

#[tokio::test]
async fn a_paused_session_is_not_put_away_and_one_that_is_over_may_be() {
    let (field, [unit, _]) = room().await;
    let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
    on(&field, "pause").await;
    let lead = || from("lead", Some("sec"));
    let refused = archive(&field, lead(), json!({"session_id": "sec"})).await;
    assert_eq!(refused, Err(InvalidTransition));
    // Who sees it from outside takes what else it sees.
    let taken = archive(&field, from("out", None), json!({"unit_ids": [unit, public]})).await;
    assert_eq!(taken, Ok(1));
    on(&field, "resume").await;
    assert_eq!(archive(&field, lead(), json!({"unit_ids": [unit]})).await, Ok(1));
    on(&field, "pause").await;
    assert_eq!(restore(&field, lead(), &unit).await, Err(InvalidTransition));
    on(&field, "end").await;
    assert_eq!(restore(&field, lead(), &unit).await, Ok(()));
    assert_eq!(archive(&field, lead(), json!({"unit_ids": [unit]})).await, Ok(1));
}
