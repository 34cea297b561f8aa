//! Servers whose DETECT lists or filters wrongly.

use serde_json::{Value, json};

use super::{
    tamper::{after, asks, keep, pretends, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_detect_is_caught() {
    all_are_caught(
        "detect",
        [lists(), filters(), modes(), scans()].into_iter().flatten().collect(),
    );
}

fn lists() -> Vec<Variant> {
    let cases = &["l1_detect_", "l1_record_35"];
    vec![
        variant(
            "detect_lists_the_newest_only",
            "list has one conflict at most",
            cases,
            tells("DETECT", |body| {
                if let Some(list) = body["conflicts"].as_array_mut() {
                    list.drain(..list.len().saturating_sub(1));
                }
            }),
        ),
        variant(
            "detect_without_descriptions",
            "The description of a conflict is empty",
            cases,
            tells("DETECT", |body| put(body, "/conflicts/*/description", &json!(""))),
        ),
        variant(
            "detect_words_of_its_own",
            "detected_by is a word outside of the schema",
            cases,
            tells("DETECT", |body| put(body, "/conflicts/*/detected_by", &json!("relation"))),
        ),
        variant(
            "detect_resolves_by_itself",
            "An open conflict has a resolution",
            cases,
            tells("DETECT", |body| {
                put(body, "/conflicts/*/resolution", &json!({"winner_id": null}))
            }),
        ),
        variant(
            "detect_without_status",
            "The answer has no status",
            cases,
            tells("DETECT", |body| strip(body, "/status")),
        ),
    ]
}

fn filters() -> Vec<Variant> {
    let cases = &["l1_detect_"];
    let ignores =
        |key: &'static str| asks("DETECT", move |payload| strip(&mut payload["filter"], key));
    vec![
        variant(
            "detect_ignores_status",
            "filter.status is not looked at",
            cases,
            ignores("/status"),
        ),
        variant(
            "detect_ignores_agents",
            "filter.involving_agents is not looked at",
            cases,
            ignores("/involving_agents"),
        ),
        variant("detect_ignores_types", "filter.types is not looked at", cases, ignores("/types")),
        variant(
            "detect_filters_with_or",
            "Of two filters one is enough",
            cases,
            asks("DETECT", |payload| {
                if payload["filter"]["involving_agents"].is_array() {
                    strip(payload, "/filter/status");
                }
            }),
        ),
        variant(
            "detect_filters_by_first_author",
            "filter.involving_agents looks at the older unit alone",
            cases,
            after("DETECT", |asked, answered, past| {
                let wanted = asked.message["payload"]["filter"]["involving_agents"].clone();
                if let Value::Array(wanted) = wanted {
                    keep(&mut answered.body, "/conflicts", |conflict| {
                        let author = past.unit(&conflict["unit_a"]).map(|made| json!(made.agent));
                        author.is_some_and(|author| wanted.contains(&author))
                    });
                }
            }),
        ),
    ]
}

fn modes() -> Vec<Variant> {
    let cases = &["l1_detect_06", "l2_detect_"];
    vec![
        variant(
            "detect_lists_by_default",
            "A missing mode is list",
            cases,
            asks("DETECT", |payload| {
                if payload["mode"].is_null() {
                    payload["mode"] = json!("list");
                }
            }),
        ),
        variant(
            "detect_checks_everything",
            "check answers with all conflicts",
            cases,
            asks("DETECT", |payload| {
                if payload["mode"] == "check" && payload["target_id"].is_string() {
                    payload["mode"] = json!("list");
                }
            }),
        ),
        variant(
            "detect_checks_nothing",
            "check finds nothing",
            cases,
            after("DETECT", |asked, answered, _| {
                if asked.message["payload"]["mode"] == "check" && !answered.is_refusal() {
                    answered.body["conflicts"] = json!([]);
                }
            }),
        ),
        variant(
            "detect_unknown_unit_has_no_conflicts",
            "check of an unknown unit answers an empty list",
            cases,
            pretends("DETECT", &["UNIT_NOT_FOUND"]),
        ),
        variant(
            "detect_checks_without_target",
            "check needs no target",
            cases,
            pretends("DETECT", &["INVALID_PAYLOAD"]),
        ),
    ]
}

fn scans() -> Vec<Variant> {
    let cases = &["l2_detect_1"];
    vec![
        variant(
            "detect_without_coverage",
            "scan does not say what it looked at",
            cases,
            tells("DETECT", |body| strip(body, "/scan_coverage")),
        ),
        variant(
            "detect_scans_nothing",
            "scan looks at no unit",
            cases,
            tells("DETECT", |body| put(body, "/scan_coverage/units_scanned", &json!(0))),
        ),
        variant(
            "detect_finds_the_same_again",
            "Every scan finds a new conflict",
            cases,
            tells("DETECT", |body| put(body, "/scan_coverage/new_conflicts_found", &json!(1))),
        ),
        variant(
            "detect_explicit_only",
            "Only conflicts that authors name are found",
            cases,
            tells("DETECT", |body| {
                keep(body, "/conflicts", |entry| entry["detected_by"] == "explicit")
            }),
        ),
    ]
}
