//! Servers that lose work when it is handed over.

use serde_json::{Value, json};

use super::{
    tamper::{Tamper, after, asks, pretends, put, refuses, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_handoff_is_caught() {
    all_are_caught("handoff", [answers(), packages(), rules()].into_iter().flatten().collect());
}

fn refuses_to(action: &'static str) -> Tamper {
    refuses("HANDOFF", 409, "INVALID_TRANSITION", move |payload| payload["action"] == action)
}

fn answers() -> Vec<Variant> {
    let cases = &["_handoff_"];
    vec![
        variant(
            "handoff_nobody_accepts",
            "An offer cannot be accepted",
            cases,
            refuses_to("accept"),
        ),
        variant(
            "handoff_nobody_rejects",
            "An offer cannot be rejected",
            cases,
            refuses_to("reject"),
        ),
        variant(
            "handoff_nobody_cancels",
            "An offer cannot be cancelled",
            cases,
            refuses_to("cancel"),
        ),
        variant(
            "handoff_lists_nothing",
            "list is always empty",
            cases,
            tells("HANDOFF", |body| put(body, "/handoffs", &json!([]))),
        ),
        variant(
            "handoff_leaves_the_task",
            "Accepting does not give the task to the receiver",
            cases,
            tells("COORDINATE", |body| put(body, "/task/assigned_to", &json!("somebody"))),
        ),
    ]
}

fn packages() -> Vec<Variant> {
    let cases = &["_handoff_"];
    vec![
        variant(
            "handoff_without_giver",
            "The package does not say who gives",
            cases,
            tells("HANDOFF", |body| strip(body, "/handoff/from_agent")),
        ),
        variant(
            "handoff_loses_the_context",
            "The context is not kept",
            cases,
            asks("HANDOFF", |payload| {
                put(payload, "/context", &json!({"summary": "Half of it is done"}))
            }),
        ),
        variant(
            "handoff_flattens_the_context",
            "The context comes back as one text",
            cases,
            tells("HANDOFF", |body| {
                if body["handoff"]["context"].is_object() {
                    body["handoff"]["context"] =
                        Value::String(body["handoff"]["context"].to_string());
                }
            }),
        ),
        variant(
            "handoff_adds_no_units",
            "Units of the task are not added",
            cases,
            tells("HANDOFF", |body| put(body, "/handoff/context/memory_unit_ids", &json!([]))),
        ),
        variant(
            "handoff_adds_no_questions",
            "Open questions are not added",
            cases,
            tells("HANDOFF", |body| put(body, "/handoff/context/open_questions", &json!([]))),
        ),
        variant(
            "handoff_adds_no_conflicts",
            "Open conflicts are not added",
            cases,
            tells("HANDOFF", |body| put(body, "/handoff/context/conflict_ids", &json!([]))),
        ),
    ]
}

fn rules() -> Vec<Variant> {
    let cases = &["_handoff_"];
    vec![
        variant(
            "handoff_anybody_answers",
            "Others may accept an offer",
            cases,
            after("HANDOFF", |asked, answered, _| {
                let answers =
                    ["accept", "reject"].iter().any(|a| asked.message["payload"]["action"] == *a);
                if answers && answered.is_refusal() {
                    answered.status = 200;
                    answered.body = json!({"status": "accepted"});
                }
            }),
        ),
        variant(
            "handoff_never_closes",
            "An offer that was answered can be answered again",
            cases,
            pretends("HANDOFF", &["INVALID_TRANSITION"]),
        ),
        variant(
            "handoff_of_nothing",
            "An unknown handoff or receiver is acknowledged",
            cases,
            pretends("HANDOFF", &["UNIT_NOT_FOUND", "AGENT_NOT_REGISTERED", "INVALID_PAYLOAD"]),
        ),
    ]
}
