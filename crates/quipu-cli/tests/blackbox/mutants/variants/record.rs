//! Servers that accept what they must refuse, and refuse what they must accept, in RECORD.

use serde_json::{Value, json};

use super::{
    tamper::{
        Answered, after, asks, before, complains, pretends, put, refuses, strip, swallows, tells,
    },
    trial::{Variant, all_are_caught, variant},
};

const RELATIONS: [&str; 9] = [
    "supports",
    "contradicts",
    "depends_on",
    "supersedes",
    "caused_by",
    "elaborates",
    "answers",
    "blocks",
    "informs",
];

#[test]
fn every_careless_record_is_caught() {
    let all = [missing(), confidence(), words(), relations(), answers(), chosen()];
    all_are_caught("record", all.into_iter().flatten().collect());
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}

fn fills(key: &'static str, with: &'static str) -> super::tamper::Tamper {
    asks("RECORD", move |payload| {
        if is_blank(&payload[key]) {
            payload[key] = json!(with);
        }
    })
}

fn missing() -> Vec<Variant> {
    let cases = &["l0_record_0", "l0_record_1", "l0_record_2"];
    let purpose = |payload: &mut Value| {
        if is_blank(&payload["intent"]["purpose"]) {
            payload["intent"] = json!({"purpose": "none was given"});
        }
    };
    vec![
        variant(
            "record_without_content",
            "A missing content is made up",
            cases,
            fills("content", "?"),
        ),
        variant(
            "record_without_type",
            "A missing type is a finding",
            cases,
            fills("type", "finding"),
        ),
        variant(
            "record_without_intent",
            "A missing purpose is made up",
            cases,
            asks("RECORD", purpose),
        ),
        variant(
            "record_blank_intent",
            "A purpose of white space is a purpose",
            cases,
            asks("RECORD", |payload| {
                let blank =
                    payload["intent"]["purpose"].as_str().is_some_and(|text| !text.is_empty());
                if blank && is_blank(&payload["intent"]["purpose"]) {
                    payload["intent"]["purpose"] = json!("blank");
                }
            }),
        ),
        variant(
            "record_refuses_and_keeps",
            "A unit without purpose is refused, and kept",
            cases,
            before("RECORD", |asked, _| {
                let message = &mut asked.message;
                if message["payload"].is_object() && message["payload"].get("intent").is_none() {
                    message["payload"]["intent"] = json!({"purpose": "none was given"});
                    asked.head.set("x-refused", "yes");
                }
                None
            })
            .and(after("RECORD", |asked, answered, _| {
                if asked.head.header("x-refused").is_some() {
                    *answered = Answered::refusal(400, "MISSING_INTENT", "RECORD");
                }
            })),
        ),
    ]
}

fn confidence() -> Vec<Variant> {
    let cases = &["l0_record_0", "l1_record_10"];
    let score = |payload: &Value| payload["confidence"]["score"].as_f64();
    vec![
        variant(
            "record_any_score",
            "A score out of range is put into it",
            cases,
            asks("RECORD", |payload| {
                if let Some(score) = payload["confidence"]["score"].as_f64() {
                    payload["confidence"]["score"] = json!(score.clamp(0.0, 1.0));
                }
            }),
        ),
        variant(
            "record_refuses_certainty",
            "Scores of exactly 0 and 1 are refused",
            cases,
            refuses("RECORD", 400, "INVALID_CONFIDENCE", move |payload| {
                score(payload).is_some_and(|score| score <= 0.0 || score >= 1.0)
            }),
        ),
        variant(
            "record_drafts_need_confidence",
            "A draft without confidence is refused",
            cases,
            refuses("RECORD", 400, "MISSING_CONFIDENCE", |payload| {
                payload["mode"] == "draft" && payload.get("confidence").is_none()
            }),
        ),
        variant(
            "record_needs_no_confidence",
            "A missing confidence is made up",
            cases,
            asks("RECORD", |payload| {
                for (key, value) in [("score", json!(0.5)), ("reasoning", json!("none"))] {
                    if payload["mode"] == "committed" && payload["confidence"][key].is_null() {
                        payload["confidence"][key] = value;
                    }
                }
            }),
        ),
    ]
}

fn words() -> Vec<Variant> {
    let cases = &["l0_record_0", "l0_record_1", "l1_record_08"];
    vec![
        variant(
            "record_any_type",
            "An unknown type is recorded as an observation",
            cases,
            asks("RECORD", |payload| {
                if payload["type"] == "rumour" {
                    payload["type"] = json!("observation");
                }
            }),
        ),
        variant(
            "record_no_questions",
            "Questions are refused",
            cases,
            refuses("RECORD", 400, "INVALID_TYPE", |payload| payload["type"] == "question"),
        ),
        variant(
            "record_no_directives",
            "Directives of humans are recorded as findings",
            cases,
            asks("RECORD", |payload| {
                if payload["type"] == "human_directive" {
                    payload["type"] = json!("finding");
                }
            }),
        ),
        variant(
            "record_drafts_by_default",
            "A RECORD without mode is a draft",
            cases,
            asks("RECORD", |payload| {
                if payload["mode"].is_null() {
                    payload["mode"] = json!("draft");
                }
            }),
        ),
        variant(
            "record_any_mode",
            "An unknown mode is committed",
            cases,
            asks("RECORD", |payload| {
                if payload["mode"] == "pencilled" {
                    payload["mode"] = json!("committed");
                }
            }),
        ),
    ]
}

fn relations() -> Vec<Variant> {
    let cases = &["l0_record_17", "l1_record_18", "l1_record_19", "l1_record_20"];
    vec![
        variant(
            "record_any_relation",
            "An unknown relation is dropped in silence",
            cases,
            asks("RECORD", |payload| {
                super::tamper::keep(payload, "/relations", |entry| {
                    RELATIONS.iter().any(|kind| entry["type"] == *kind)
                });
            }),
        ),
        variant(
            "record_forgets_relations",
            "Relations do not come back",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/memory_unit/relations", &json!([]))),
        ),
        variant(
            "record_no_dangling_relations",
            "Every relation needs a target that is there",
            cases,
            before("RECORD", |asked, past| {
                let target = asked.message["payload"].pointer("/relations/0/target_id")?;
                let refusal = Answered::refusal(404, "UNIT_NOT_FOUND", "RECORD");
                past.unit(target).is_none().then_some(refusal)
            }),
        ),
        variant(
            "record_contradicts_nothing",
            "A contradiction of a missing unit is accepted",
            cases,
            pretends("RECORD", &["UNIT_NOT_FOUND"]),
        ),
    ]
}

fn answers() -> Vec<Variant> {
    let cases = &["l0_record_1", "l0_record_2"];
    vec![
        variant(
            "record_without_conflicts_detected",
            "The answer has no conflicts_detected",
            cases,
            tells("RECORD", |body| strip(body, "/conflicts_detected")),
        ),
        variant(
            "record_one_id_for_one_text",
            "Equal payloads are one unit",
            cases,
            after("RECORD", |asked, answered, past| {
                let payload = &asked.message["payload"];
                let first = past.of("RECORD").into_iter().find(|past| past.payload == *payload);
                if let (Some(first), false) = (first, answered.is_refusal()) {
                    answered.body["memory_unit_id"] = first.answer["memory_unit_id"].clone();
                }
            }),
        ),
        variant(
            "record_is_swallowed",
            "RECORD is acknowledged, and nothing is kept",
            &["l0_record_3", "l1_record_07", "l1_attune_21", "l0_attune_03", "l1_deregister_02"],
            swallows("RECORD", |payload| payload["content"].is_string()),
        ),
        variant(
            "record_refusals_without_reason",
            "A refusal has neither status rejected nor a reason",
            cases,
            complains("RECORD", |body| {
                strip(body, "/status");
                strip(body, "/rejection_reason");
            }),
        ),
    ]
}

fn chosen() -> Vec<Variant> {
    let cases = &["l0_record_13"];
    vec![
        variant(
            "record_takes_the_id_of_the_payload",
            "An agent chooses the id of its unit",
            cases,
            after("RECORD", |asked, answered, _| {
                if let Some(id) = asked.message["payload"].get("id") {
                    answered.body["memory_unit_id"] = id.clone();
                }
            }),
        ),
        variant(
            "record_takes_the_source_of_the_payload",
            "An agent records in the name of another",
            cases,
            after("ATTUNE", |_, answered, past| {
                for item in answered.body["record"].as_array_mut().into_iter().flatten() {
                    let made = past.unit(&item["memory_unit"]["id"]);
                    if let Some(source) = made.as_ref().and_then(|made| made.payload.get("source"))
                    {
                        item["memory_unit"]["source"] = source.clone();
                    }
                }
            }),
        ),
    ]
}
