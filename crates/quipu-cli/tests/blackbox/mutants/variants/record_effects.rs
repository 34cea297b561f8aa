//! Servers that do the wrong thing with a unit that they accepted.

use serde_json::{Value, json};

use super::{
    tamper::{after, asks, each, keep, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_effect_is_caught() {
    let all = [statuses(), texts(), conflicts(), corrections()];
    all_are_caught("record_effects", all.into_iter().flatten().collect());
}

/// Rewrites a status wherever ATTUNE gives it.
fn relabels(from: &'static str, to: &'static str) -> super::tamper::Tamper {
    tells("ATTUNE", move |body| {
        each(body, "/record/*/memory_unit", &|unit| {
            if unit["status"] == from {
                unit["status"] = json!(to);
            }
        });
    })
}

/// Drops the relations of a kind before they are recorded.
fn drops(kind: &'static str) -> super::tamper::Tamper {
    asks("RECORD", move |payload| keep(payload, "/relations", |entry| entry["type"] != kind))
}

fn statuses() -> Vec<Variant> {
    let cases = &["l0_record_3", "l1_record_36", "l0_attune_16"];
    vec![
        variant(
            "record_drafts_are_active",
            "Drafts have the status active",
            cases,
            relabels("draft", "active"),
        ),
        variant(
            "record_units_stay_pending",
            "Committed units have the status pending_enrichment",
            cases,
            relabels("active", "pending_enrichment"),
        ),
        variant(
            "record_nothing_is_contested",
            "The units of an open conflict are active",
            cases,
            relabels("contested", "active"),
        ),
    ]
}

fn texts() -> Vec<Variant> {
    let cases = &["l0_record_3", "l0_record_45", "l1_record_07"];
    vec![
        variant(
            "record_without_source",
            "Units do not tell their source",
            cases,
            tells("ATTUNE", |body| strip(body, "/record/*/memory_unit/source")),
        ),
        variant(
            "record_tidies_texts",
            "Line breaks in a content become spaces",
            cases,
            tells("ATTUNE", |body| {
                each(body, "/record/*/memory_unit/content", &|text| {
                    *text = json!(text.as_str().unwrap_or_default().replace('\n', " "));
                });
            }),
        ),
        variant(
            "record_loses_evidence",
            "The evidence of a unit is not kept",
            cases,
            asks("RECORD", |payload| strip(payload, "/confidence/evidence")),
        ),
        variant(
            "record_times_are_numbers",
            "source.timestamp is a number of seconds",
            cases,
            tells("ATTUNE", |body| {
                put(body, "/record/*/memory_unit/source/timestamp", &json!("1763197261"));
            }),
        ),
        variant(
            "record_leaves_no_trace",
            "A RECORD is not in the log",
            cases,
            tells("REPLAY", |body| {
                keep(body, "/timeline", |event| event["event_type"] != "RECORD")
            }),
        ),
        variant(
            "record_corrects_in_place",
            "A unit that elaborates another rewrites it",
            cases,
            after("ATTUNE", |_, answered, past| {
                let all = past.of("RECORD");
                for item in answered.body["record"].as_array_mut().into_iter().flatten() {
                    let id = item["memory_unit"]["id"].clone();
                    let about = |made: &&super::past::Exchange| {
                        made.payload["relations"][0]["target_id"] == id
                    };
                    if let Some(newer) = all.iter().find(about) {
                        item["memory_unit"]["content"] = newer.payload["content"].clone();
                    }
                }
            }),
        ),
    ]
}

fn conflicts() -> Vec<Variant> {
    let cases = &["l1_record_3", "l1_record_4", "l2_record_42", "l1_detect_01", "l1_attune_07"];
    vec![
        variant(
            "record_drops_contradictions",
            "contradicts relations are dropped in silence",
            cases,
            drops("contradicts"),
        ),
        variant(
            "record_tells_no_conflicts",
            "conflicts_detected is always empty",
            cases,
            tells("RECORD", |body| put(body, "/conflicts_detected", &json!([]))),
        ),
        variant(
            "record_turns_conflicts_around",
            "unit_a is the new unit",
            cases,
            tells("DETECT", |body| {
                each(body, "/conflicts/*", &|conflict| {
                    let (a, b) = (conflict["unit_a"].take(), conflict["unit_b"].take());
                    (conflict["unit_a"], conflict["unit_b"]) = (b, a);
                });
            }),
        ),
        variant(
            "record_opens_conflicts_twice",
            "Each conflict of a pair is there twice",
            cases,
            tells("DETECT", |body| {
                let list = body["conflicts"].as_array_mut().unwrap();
                let again = list.clone();
                list.extend(again);
            }),
        ),
        variant(
            "record_all_conflicts_are_factual",
            "Every conflict is factual",
            cases,
            tells("DETECT", |body| put(body, "/conflicts/*/type", &json!("factual"))),
        ),
        variant(
            "record_one_conflict_a_unit",
            "Of several contradictions only the first opens a conflict",
            cases,
            tells("RECORD", |body| {
                if let Some(list) = body["conflicts_detected"].as_array_mut() {
                    list.truncate(1);
                }
            }),
        ),
        variant(
            "record_detects_nothing_by_itself",
            "Only conflicts of a contradicts relation are told",
            cases,
            after("RECORD", |asked, answered, _| {
                let relations = asked.message["payload"]["relations"].to_string();
                if !relations.contains("contradicts") && !answered.is_refusal() {
                    answered.body["conflicts_detected"] = Value::Array(Vec::new());
                    strip(&mut answered.body, "/conflict_detection");
                }
            }),
        ),
    ]
}

fn corrections() -> Vec<Variant> {
    vec![variant(
        "record_supersedes_nothing",
        "supersedes relations are dropped in silence",
        &["l1_record_37", "l0_record_41", "l1_record_18", "l2_subscribe_04"],
        drops("supersedes"),
    )]
}
