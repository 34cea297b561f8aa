//! Servers whose MERGE breaks the conflict's state machine or tells too little.

use serde_json::json;

use super::{
    tamper::{Answered, after, asks, before, complains, each, pretends, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_merge_is_caught() {
    let all = [refusals(), effects(), escalations()];
    all_are_caught("merge", all.into_iter().flatten().collect());
}

fn refusals() -> Vec<Variant> {
    let cases = &["_merge_"];
    vec![
        variant(
            "merge_unknown_conflict_by_another_code",
            "An unknown conflict answers UNIT_NOT_FOUND",
            cases,
            complains("MERGE", |body| {
                if body["code"] == "CONFLICT_NOT_FOUND" {
                    body["code"] = json!("UNIT_NOT_FOUND");
                }
            }),
        ),
        variant(
            "merge_again_and_again",
            "A resolved or escalated conflict can be merged again",
            cases,
            pretends("MERGE", &["INVALID_TRANSITION"]),
        ),
        variant(
            "merge_without_rationale",
            "A missing rationale is made up",
            cases,
            asks("MERGE", |payload| {
                if payload["resolution"]["rationale"].as_str().is_none_or(str::is_empty) {
                    payload["resolution"]["rationale"] = json!("none");
                }
            }),
        ),
        variant(
            "merge_any_strategy",
            "An unknown strategy is last_write_wins",
            cases,
            asks("MERGE", |payload| {
                if payload["strategy"] == "coin_toss" || payload["strategy"].is_null() {
                    payload["strategy"] = json!("last_write_wins");
                }
            }),
        ),
        variant(
            "merge_escalates_for_ever",
            "Nobody resolves what was escalated",
            cases,
            before("MERGE", |asked, past| {
                let id = &asked.message["payload"]["conflict_id"];
                let escalated = past.last("MERGE", |merge| {
                    merge.payload["conflict_id"] == *id && merge.answer["status"] == "escalated"
                });
                escalated.map(|_| Answered::refusal(409, "INVALID_TRANSITION", "MERGE"))
            }),
        ),
    ]
}

fn effects() -> Vec<Variant> {
    let cases = &["_merge_"];
    vec![
        variant(
            "merge_supersedes_nobody",
            "side_effects does not name the loser",
            cases,
            tells("MERGE", |body| put(body, "/side_effects/superseded_units", &json!([]))),
        ),
        variant(
            "merge_tells_nobody",
            "notified_agents is empty",
            cases,
            tells("MERGE", |body| put(body, "/side_effects/notified_agents", &json!([]))),
        ),
        variant(
            "merge_forgets_who",
            "The resolution does not say who resolved it",
            cases,
            tells("MERGE", |body| strip(body, "/conflict/resolution/resolved_by"))
                .and(tells("DETECT", |body| strip(body, "/conflicts/*/resolution/resolved_by"))),
        ),
        variant(
            "merge_is_not_stored",
            "A resolution is answered, but the conflict stays as it was",
            cases,
            tells("DETECT", |body| {
                each(body, "/conflicts/*", &|conflict| {
                    conflict["status"] = json!("detected");
                    strip(conflict, "/resolution");
                });
            }),
        ),
        variant(
            "merge_winner_stays_contested",
            "The winner of a conflict stays contested",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/memory_unit/status", &json!("contested"))),
        ),
        variant(
            "merge_without_strategies",
            "conflict_strategies is empty",
            cases,
            tells("REGISTER", |body| {
                put(body, "/field_capabilities/conflict_strategies", &json!([]))
            }),
        ),
    ]
}

fn escalations() -> Vec<Variant> {
    let cases = &["_merge_"];
    vec![
        variant(
            "merge_escalation_resolves",
            "human_escalation answers resolved",
            cases,
            tells("MERGE", |body| {
                if body["status"] == "escalated" {
                    body["status"] = json!("resolved");
                    body["conflict"]["status"] = json!("resolved");
                }
            }),
        ),
        variant(
            "merge_refuses_to_escalate",
            "human_escalation is no strategy",
            cases,
            after("MERGE", |asked, answered, _| {
                if asked.message["payload"]["strategy"] == "human_escalation" {
                    *answered = Answered::refusal(400, "MERGE_FAILED", "MERGE");
                }
            }),
        ),
    ]
}
