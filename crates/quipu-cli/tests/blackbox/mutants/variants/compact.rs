//! Servers that compact too much or too little.

use serde_json::{Value, json};

use super::{
    attune::also_gives,
    tamper::{Answered, after, asks, before, keep, pretends, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_compact_is_caught() {
    let all = [filters(), archives(), summaries(), purges()];
    all_are_caught("compact", all.into_iter().flatten().collect());
}

fn filters() -> Vec<Variant> {
    let cases = &["_compact_0", "_compact_1"];
    let ignores =
        |key: &'static str| asks("COMPACT", move |payload| strip(&mut payload["filter"], key));
    vec![
        variant("compact_ignores_types", "filter.types is not looked at", cases, ignores("/types")),
        variant(
            "compact_ignores_status",
            "filter.status is not looked at",
            cases,
            ignores("/status"),
        ),
        variant(
            "compact_ignores_age",
            "filter.max_age_epochs is not looked at",
            cases,
            ignores("/max_age_epochs"),
        ),
        variant(
            "compact_ignores_sessions",
            "filter.session_id is not looked at",
            &["l2_compact_10"],
            after("COMPACT", |_, answered, _| {
                let count = answered.body["units_affected"].as_u64().unwrap_or(0);
                answered.body["units_affected"] = json!(count + 1);
            }),
        ),
    ]
}

fn archives() -> Vec<Variant> {
    let cases = &["_compact_"];
    vec![
        variant(
            "compact_does_nothing",
            "Archived units are still given",
            cases,
            also_gives(|_, past| !past.of("COMPACT").is_empty()),
        ),
        variant(
            "compact_loses_the_log",
            "What was archived is gone from the log",
            cases,
            after("REPLAY", |_, answered, past| {
                if !past.of("COMPACT").is_empty() {
                    keep(&mut answered.body, "/timeline", |event| event["event_type"] == "COMPACT");
                }
            }),
        ),
        variant(
            "compact_archive_is_lost",
            "include_archived is not looked at",
            cases,
            asks("ATTUNE", |payload| strip(payload, "/scope/include_archived")),
        ),
        variant(
            "compact_no_match_is_an_error",
            "A filter that matches nothing answers an error",
            cases,
            after("COMPACT", |_, answered, _| {
                if answered.body["units_affected"] == 0 {
                    *answered = Answered::refusal(404, "UNIT_NOT_FOUND", "COMPACT");
                }
            }),
        ),
        variant(
            "compact_without_bytes",
            "The answer has no storage_reclaimed_bytes",
            cases,
            tells("COMPACT", |body| strip(body, "/storage_reclaimed_bytes")),
        ),
        variant(
            "compact_counts_again",
            "What is archived is counted again",
            cases,
            tells("COMPACT", |body| {
                if body["units_affected"] == 0 {
                    body["units_affected"] = json!(2);
                }
            }),
        ),
        variant(
            "compact_any_strategy",
            "An unknown strategy is acknowledged",
            cases,
            pretends("COMPACT", &["INVALID_PAYLOAD"]),
        ),
    ]
}

fn summaries() -> Vec<Variant> {
    let cases = &["l2_compact_04", "l2_compact_18"];
    let of_syntheses = |change: fn(&mut Value)| {
        tells("ATTUNE", move |body| {
            for item in body["record"].as_array_mut().into_iter().flatten() {
                if item["memory_unit"]["type"] == "synthesis" {
                    change(&mut item["memory_unit"]);
                }
            }
        })
    };
    vec![
        variant(
            "compact_summary_without_sources",
            "A synthesis elaborates nothing",
            cases,
            of_syntheses(|unit| put(unit, "/relations/*/type", &json!("informs"))),
        ),
        variant(
            "compact_summary_without_words",
            "A synthesis says nothing of its units",
            cases,
            of_syntheses(|unit| put(unit, "/content", &json!("Three units."))),
        ),
        variant(
            "compact_summary_archives_instead",
            "summarize only archives",
            cases,
            asks("COMPACT", |payload| {
                if payload["strategy"] == "summarize" {
                    payload["strategy"] = json!("archive");
                }
            }),
        ),
        variant(
            "compact_summary_keeps_originals",
            "Units that were summarized are still given",
            cases,
            also_gives(|_, past| !past.of("COMPACT").is_empty()),
        ),
    ]
}

fn purges() -> Vec<Variant> {
    let cases = &["l3_compact_"];
    vec![
        variant(
            "compact_purge_only_archives",
            "purge keeps the text and takes it out of sight",
            cases,
            asks("COMPACT", |payload| {
                if payload["strategy"] == "purge" {
                    payload["strategy"] = json!("archive");
                }
            }),
        ),
        variant(
            "compact_purge_without_tombstone",
            "The log does not know a purged unit any more",
            cases,
            before("REPLAY", |_, past| {
                let purged = past.last("COMPACT", |compact| compact.payload["strategy"] == "purge");
                purged.map(|_| Answered::refusal(404, "UNIT_NOT_FOUND", "REPLAY"))
            }),
        ),
        variant(
            "compact_purge_is_not_told",
            "REPLAY does not tell that a unit was purged",
            cases,
            tells("REPLAY", |body| {
                keep(body, "/timeline", |event| event["event_type"] == "RECORD")
            }),
        ),
        variant(
            "compact_purge_keeps_text",
            "REPLAY repeats the text of a purged unit",
            cases,
            after("REPLAY", |_, answered, past| {
                let last =
                    past.last("RECORD", |_| true).map(|made| made.payload["content"].clone());
                answered.body["summary"] = last.unwrap_or_default();
            }),
        ),
    ]
}
