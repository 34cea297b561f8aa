//! Servers whose sessions keep no order.

use serde_json::{Value, json};

use super::{
    tamper::{asks, before, pretends, put, refuses, strip, swallows, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_session_is_caught() {
    all_are_caught("session", [lives(), shapes(), rules()].into_iter().flatten().collect());
}

fn lives() -> Vec<Variant> {
    let cases = &["l3_session_"];
    vec![
        variant(
            "session_begins_paused",
            "A new session is paused",
            cases,
            tells("SESSION", |body| {
                if body["session"]["status"] == "active" {
                    body["session"]["status"] = json!("paused");
                }
            }),
        ),
        variant(
            "session_without_goal",
            "A missing goal is made up",
            cases,
            asks("SESSION", |payload| {
                let goal = payload["session"]["goal"].as_str().unwrap_or_default();
                if payload["action"] == "create" && goal.trim().is_empty() {
                    payload["session"] = json!({"goal": "none"});
                }
            }),
        ),
        variant(
            "session_cannot_resume",
            "resume is refused",
            cases,
            refuses("SESSION", 409, "INVALID_TRANSITION", |payload| payload["action"] == "resume"),
        ),
        variant(
            "session_never_ends",
            "end is acknowledged as a pause",
            cases,
            asks("SESSION", |payload| {
                if payload["action"] == "end" {
                    payload["action"] = json!("pause");
                }
            }),
        ),
        variant(
            "session_takes_every_move",
            "Illegal moves are acknowledged",
            cases,
            pretends("SESSION", &["INVALID_TRANSITION"]),
        ),
        variant(
            "session_nobody_leaves",
            "leave is acknowledged and swallowed",
            cases,
            swallows("SESSION", |payload| {
                payload["action"] == "leave"
                    && payload["session_id"].as_str().is_some_and(|id| !id.is_empty())
            }),
        ),
    ]
}

fn shapes() -> Vec<Variant> {
    let cases = &["l3_session_"];
    vec![
        variant(
            "session_without_policy",
            "A session does not tell its policy",
            cases,
            tells("SESSION", |body| strip(body, "/session/policy")),
        ),
        variant(
            "session_without_members",
            "members is always empty",
            cases,
            tells("SESSION", |body| put(body, "/session/members", &json!([]))),
        ),
        variant(
            "session_lists_nothing",
            "list is always empty",
            cases,
            tells("SESSION", |body| put(body, "/sessions", &json!([]))),
        ),
        variant(
            "session_keeps_no_policy",
            "set_policy is acknowledged and not kept",
            cases,
            asks("SESSION", |payload| {
                if payload["action"] == "set_policy" {
                    payload["action"] = json!("get");
                }
            }),
        ),
        variant(
            "session_units_do_not_tell",
            "Units do not carry their session",
            cases,
            tells("ATTUNE", |body| {
                put(body, "/record/*/memory_unit/source/session_id", &Value::Null);
            }),
        ),
        variant(
            "session_of_nothing",
            "An unknown session is acknowledged",
            cases,
            pretends("SESSION", &["UNIT_NOT_FOUND"]),
        ),
        variant(
            "session_takes_bad_requests",
            "Bad requests are acknowledged",
            cases,
            pretends("SESSION", &["INVALID_PAYLOAD"]),
        ),
    ]
}

fn rules() -> Vec<Variant> {
    let cases = &["l3_session_"];
    vec![
        variant(
            "session_writes_while_paused",
            "Paused and ended sessions take writes",
            cases,
            pretends("RECORD", &["INVALID_TRANSITION"]),
        ),
        variant(
            "session_tasks_move_while_paused",
            "Tasks move in a paused session",
            cases,
            pretends("COORDINATE", &["INVALID_TRANSITION"]),
        ),
        variant(
            "session_cannot_be_read_when_over",
            "A session that was paused or ended cannot be read",
            cases,
            before("ATTUNE", |asked, past| {
                let session = &asked.message["session_id"];
                let over = past.last("SESSION", |act| {
                    act.payload["session_id"] == *session
                        && (act.payload["action"] == "pause" || act.payload["action"] == "end")
                });
                over.map(|_| super::tamper::Answered::refusal(409, "INVALID_TRANSITION", "ATTUNE"))
            }),
        ),
        variant(
            "session_leaves_tasks_open",
            "Tasks stay open when their session ends",
            cases,
            tells("COORDINATE", |body| {
                if body["task"]["status"] == "cancelled" {
                    body["task"]["status"] = json!("pending");
                }
            }),
        ),
        variant(
            "session_one_for_all",
            "Everybody speaks outside of sessions",
            cases,
            super::tamper::rewrites("RECORD", |message| message["session_id"] = Value::Null).and(
                super::tamper::rewrites("ATTUNE", |message| message["session_id"] = Value::Null),
            ),
        ),
    ]
}
