//! Servers whose tasks move where they must not, or not where they must.

use serde_json::{Value, json};

use super::{
    tamper::{Tamper, after, asks, pretends, put, refuses, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

const ACTIONS: [&str; 10] = [
    "assign", "claim", "start", "block", "unblock", "complete", "fail", "release", "retry",
    "cancel",
];

#[test]
fn every_wrong_task_is_caught() {
    let all = [moves(), machine(), requests(), shapes(), agents()];
    all_are_caught("coordinate", all.into_iter().flatten().collect());
}

fn moves() -> Vec<Variant> {
    ACTIONS
        .iter()
        .map(|action| {
            let name = format!("task_cannot_{action}");
            let breaks = format!("{action} is refused in every state");
            let tamper = refuses("COORDINATE", 409, "INVALID_TRANSITION", move |payload| {
                payload["action"] == *action
            });
            variant(&name, &breaks, &["l3_task_0", "l3_task_1", "l3_coordinate_01"], tamper)
        })
        .collect()
}

fn machine() -> Vec<Variant> {
    let cases = &["l3_task_", "l3_coordinate_05", "l3_coordinate_13"];
    vec![
        variant(
            "task_takes_every_move",
            "Illegal moves are acknowledged",
            cases,
            pretends("COORDINATE", &["INVALID_TRANSITION"]),
        ),
        variant(
            "task_another_code",
            "Illegal moves answer INVALID_PAYLOAD",
            cases,
            super::tamper::complains("COORDINATE", |body| {
                put(body, "/code", &json!("INVALID_PAYLOAD"))
            }),
        ),
        variant(
            "task_stays_flagged",
            "A task that was claimed again still needs reassignment",
            cases,
            tells("COORDINATE", |body| put(body, "/task/needs_reassignment", &json!(true))),
        ),
    ]
}

fn requests() -> Vec<Variant> {
    let cases = &["l3_coordinate_"];
    vec![
        variant(
            "task_without_intent",
            "A missing purpose is made up",
            cases,
            asks("COORDINATE", |payload| {
                if payload["task"].is_object()
                    && payload["task"]["intent"]["purpose"].as_str().is_none_or(str::is_empty)
                {
                    payload["task"]["intent"] = json!({"purpose": "none"});
                }
            }),
        ),
        variant(
            "task_ignores_dependencies",
            "depends_on is not looked at",
            cases,
            asks("COORDINATE", |payload| strip(payload, "/task/depends_on")),
        ),
        variant(
            "task_ignores_the_assignee",
            "A task with an assignee is pending",
            cases,
            asks("COORDINATE", |payload| {
                if payload["action"] == "create" {
                    strip(payload, "/assignee");
                }
            }),
        ),
        variant(
            "task_of_nothing",
            "An unknown task is acknowledged",
            cases,
            pretends("COORDINATE", &["UNIT_NOT_FOUND"]),
        ),
        variant(
            "task_takes_bad_requests",
            "Bad requests are acknowledged",
            cases,
            pretends("COORDINATE", &["INVALID_PAYLOAD"]),
        ),
        variant(
            "task_anybody_moves",
            "Everybody may move a task",
            cases,
            pretends("COORDINATE", &["INSUFFICIENT_AUTHORITY"]),
        ),
        variant(
            "task_for_nobody",
            "A task can be given to an agent that is not there",
            cases,
            pretends("COORDINATE", &["AGENT_NOT_REGISTERED", "UNIT_NOT_FOUND"]),
        ),
        variant(
            "task_without_reason",
            "block and fail need no reason",
            cases,
            asks("COORDINATE", |payload| {
                if payload["reason"].is_null()
                    && (payload["action"] == "block" || payload["action"] == "fail")
                {
                    payload["reason"] = json!("none");
                }
            }),
        ),
    ]
}

fn shapes() -> Vec<Variant> {
    let cases = &["l3_coordinate_"];
    let task = |change: fn(&mut Value)| -> Tamper { tells("COORDINATE", change) };
    vec![
        variant(
            "task_without_creator",
            "A task does not say who created it",
            cases,
            task(|body| strip(body, "/task/created_by")),
        ),
        variant(
            "task_lists_nothing",
            "list is always empty",
            cases,
            task(|body| put(body, "/tasks", &json!([]))),
        ),
        variant(
            "task_lists_everything",
            "The filter of list is not looked at",
            cases,
            asks("COORDINATE", |payload| strip(payload, "/filter")),
        ),
        variant(
            "task_without_blocked_reason",
            "The reason of a block is not kept",
            cases,
            task(|body| strip(body, "/task/blocked_reason")),
        ),
        variant(
            "task_is_never_updated",
            "epoch_updated is that of the creation",
            cases,
            task(|body| {
                if body["task"].is_object() {
                    body["task"]["epoch_updated"] = body["task"]["epoch_created"].clone();
                }
            }),
        ),
        variant(
            "task_never_completes",
            "complete is acknowledged and not done",
            cases,
            asks("COORDINATE", |payload| {
                if payload["action"] == "complete" {
                    payload["action"] = json!("get");
                }
            }),
        ),
    ]
}

fn agents() -> Vec<Variant> {
    let cases = &["l3_coordinate_0", "l3_deregister_03"];
    let status = |from: &'static str, to: &'static str| {
        after("/v1/agents", move |_, answered, _| {
            for agent in answered.body["agents"].as_array_mut().into_iter().flatten() {
                if agent["status"] == from {
                    agent["status"] = json!(to);
                }
            }
        })
    };
    vec![
        variant(
            "task_agents_never_work",
            "Agents with a task are idle",
            cases,
            status("working", "idle"),
        ),
        variant(
            "task_agents_never_wait",
            "Agents with a blocked task are working",
            cases,
            status("waiting", "working"),
        ),
        variant(
            "task_agents_never_rest",
            "Agents without a task are working",
            cases,
            status("idle", "working"),
        ),
    ]
}
