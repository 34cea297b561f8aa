//! Servers whose logical clock is wrong.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{
    tamper::{after, asks, each, rewrites, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_clock_is_caught() {
    all_are_caught("clock", [records(), others()].into_iter().flatten().collect());
}

fn bump(value: &mut Value, by: i64) {
    if let Some(epoch) = value.as_i64() {
        *value = json!((epoch + by).max(0));
    }
}

fn records() -> Vec<Variant> {
    let cases = &["_clock_", "l1_record_07"];
    let first = AtomicU64::new(0);
    vec![
        variant(
            "clock_record_tells_a_later_epoch",
            "RECORD answers an epoch after that of the unit",
            cases,
            tells("RECORD", |body| bump(&mut body["epoch"], 1)),
        ),
        variant(
            "clock_takes_the_epoch_of_the_payload",
            "An epoch in the payload becomes that of the unit",
            cases,
            after("RECORD", |asked, answered, _| {
                if let Some(epoch) = asked.message["payload"].get("epoch") {
                    answered.body["epoch"] = epoch.clone();
                }
            }),
        ),
        variant(
            "clock_stands_still",
            "Every RECORD answers the same epoch",
            cases,
            tells("RECORD", move |body| {
                let now = body["epoch"].as_u64().unwrap_or(0);
                let kept = first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
                body["epoch"] = json!(kept.err().unwrap_or(now));
            }),
        ),
        variant(
            "clock_looks_at_itself_alone",
            "The epoch of a message does not pull the clock along",
            cases,
            rewrites("*", |message| {
                if message["epoch"].is_u64() {
                    message["epoch"] = json!(0);
                }
            }),
        ),
        variant(
            "clock_follows_the_message",
            "The clock goes to the message's epoch, backwards too",
            cases,
            after("RECORD", |asked, answered, _| {
                let epoch = asked.message["epoch"].as_u64().unwrap_or(0);
                answered.body["epoch"] = json!(epoch + 1);
            }),
        ),
    ]
}

fn others() -> Vec<Variant> {
    let cases = &["_clock_", "l1_attune_14"];
    vec![
        variant(
            "clock_attune_does_not_tick",
            "ATTUNE answers the epoch of the last write",
            cases,
            tells("ATTUNE", |body| bump(&mut body["epoch"], -1)),
        ),
        variant(
            "clock_takes_any_epoch",
            "An epoch of 2^53 is taken as it is",
            cases,
            rewrites("*", |message| {
                if message["epoch"].as_u64().is_some_and(|epoch| epoch >= 1 << 53) {
                    message["epoch"] = json!(0);
                }
            }),
        ),
        variant(
            "clock_side_events_come_later",
            "A conflict has the epoch after that of its RECORD",
            cases,
            tells("REPLAY", |body| {
                each(body, "/timeline/*", &|event| {
                    if event["event_type"] == "CONFLICT_CREATED" {
                        bump(&mut event["epoch"], 1);
                    }
                });
            }),
        ),
        variant(
            "clock_polls_from_the_start",
            "since_epoch is not looked at",
            &["l1_attune_06", "l1_attune_14", "l1_attune_2"],
            asks("ATTUNE", |payload| {
                payload["since_epoch"] = Value::Null;
                payload["scope"]["since_epoch"] = Value::Null;
            }),
        ),
    ]
}
