//! Servers whose ATTUNE gives too much, too little, or in the wrong order.

use serde_json::{Value, json};

use super::{
    past::Past,
    tamper::{Tamper, after, asks, each, keep, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_attune_is_caught() {
    let all = [choices(), leaks(), orders(), shapes(), scores(), polls()];
    all_are_caught("attune", all.into_iter().flatten().collect());
}

fn is_own(item: &Value, agent: &Value) -> bool {
    item["memory_unit"]["source"]["agent_id"] == *agent
}

/// Adds units that were recorded and that ATTUNE does not give, as far as they fit.
pub(super) fn also_gives(fits: fn(&Value, &Past) -> bool) -> Tamper {
    after("ATTUNE", move |asked, answered, past| {
        let Some(record) = answered.body["record"].as_array_mut() else { return };
        for made in past.of("RECORD") {
            let item = made.as_item();
            let id = &item["memory_unit"]["id"];
            let given = record.iter().any(|entry| entry["memory_unit"]["id"] == *id);
            if !given && !is_own(&item, &asked.message["agent_id"]) && fits(id, past) {
                record.push(item);
            }
        }
    })
}

fn choices() -> Vec<Variant> {
    let cases = &["l0_attune_0", "l0_attune_1", "l0_attune_22", "l1_attune_21", "l2_attune_27"];
    vec![
        variant(
            "attune_gives_own_units",
            "An agent is given its own units",
            cases,
            asks("ATTUNE", |payload| put(payload, "/scope/include_own", &json!(true))),
        ),
        variant(
            "attune_never_gives_own_units",
            "include_own is not looked at",
            cases,
            asks("ATTUNE", |payload| strip(payload, "/scope/include_own")),
        ),
        variant(
            "attune_hides_drafts",
            "Drafts of others are not given",
            cases,
            tells("ATTUNE", |body| {
                keep(body, "/record", |item| item["memory_unit"]["status"] != "draft")
            }),
        ),
        variant(
            "attune_lags_behind",
            "The last unit that was recorded is not given yet",
            cases,
            after("ATTUNE", |_, answered, past| {
                let last =
                    past.last("RECORD", |_| true).map(|made| made.answer["memory_unit_id"].clone());
                keep(&mut answered.body, "/record", |item| {
                    Some(&item["memory_unit"]["id"]) != last.as_ref()
                });
            }),
        ),
        variant(
            "attune_gives_resolved_conflicts",
            "Conflicts that were resolved are still given",
            cases,
            after("ATTUNE", |_, answered, past| {
                let Some(list) = answered.body["conflicts"].as_array_mut() else { return };
                list.extend(
                    past.of("MERGE").into_iter().map(|merge| merge.answer["conflict"].clone()),
                );
            }),
        ),
        variant(
            "attune_hears_one_agent",
            "All units that are given are of one agent",
            &["l0_attune_20"],
            tells("ATTUNE", |body| {
                let last = body["record"].as_array().and_then(|list| list.first()).cloned();
                let author = last.unwrap_or_default()["memory_unit"]["source"]["agent_id"].clone();
                keep(body, "/record", |item| item["memory_unit"]["source"]["agent_id"] == author);
            }),
        ),
    ]
}

fn leaks() -> Vec<Variant> {
    let superseded = |id: &Value, past: &Past| {
        past.of("RECORD").iter().any(|made| {
            made.payload["relations"][0]["target_id"] == *id
                && made.payload["relations"][0]["type"] == "supersedes"
        })
    };
    let lost = |id: &Value, past: &Past| {
        let lists =
            past.of("MERGE").into_iter().map(|merge| merge.answer["side_effects"].to_string());
        id.as_str().is_some_and(|id| lists.into_iter().any(|list| list.contains(id)))
    };
    let marks = || {
        tells("ATTUNE", |body| {
            each(body, "/record/*", &|item| {
                if item["relevance_reason"] == "it was recorded" {
                    item["memory_unit"]["status"] = json!("superseded");
                }
            });
        })
    };
    vec![
        variant(
            "attune_gives_superseded_units",
            "Units that were superseded are given, with that status",
            &["l0_attune_02", "l1_record_37", "l0_record_41"],
            also_gives(superseded).and(marks()),
        ),
        variant(
            "attune_gives_losers",
            "Units that lost a conflict are given",
            &["l2_attune_09", "l2_merge_03", "l3_strategy_07"],
            also_gives(lost),
        ),
    ]
}

fn orders() -> Vec<Variant> {
    let cases = &["l0_attune_03", "l0_attune_04", "l0_attune_22", "l0_scope_01"];
    vec![
        variant(
            "attune_worst_first",
            "The order is that of rising scores",
            cases,
            tells("ATTUNE", |body| {
                if let Some(list) = body["record"].as_array_mut() {
                    list.reverse();
                }
            }),
        ),
        variant(
            "attune_ignores_max_units",
            "max_units is not looked at",
            cases,
            asks("ATTUNE", |payload| {
                if payload["scope"]["max_units"].as_u64() > Some(0) {
                    payload["scope"]["max_units"] = json!(10_000);
                }
            }),
        ),
        variant(
            "attune_cuts_before_sorting",
            "max_units cuts the oldest units, not the best",
            cases,
            cuts_first(),
        ),
    ]
}

/// Asks for everything, and keeps the last of what comes.
fn cuts_first() -> Tamper {
    super::tamper::before("ATTUNE", |asked, _| {
        let units = asked.message["payload"]["scope"]["max_units"].as_u64().unwrap_or(0);
        if units > 0 {
            asked.head.set("x-units", &units.to_string());
            asked.message["payload"]["scope"]["max_units"] = json!(10_000);
        }
        None
    })
    .and(after("ATTUNE", |asked, answered, _| {
        let units = asked.head.header("x-units").and_then(|units| units.parse().ok());
        let (Some(units), Some(list)) = (units, answered.body["record"].as_array_mut()) else {
            return;
        };
        let cut = list.len().saturating_sub(units);
        list.drain(..cut);
        answered.body["context_budget"]["units_returned"] = json!(units);
    }))
}

fn shapes() -> Vec<Variant> {
    let cases = &["l0_attune_0", "l1_attune_07", "l0_attune_22", "l2_merge_14"];
    vec![
        variant(
            "attune_scores_in_percent",
            "Scores go up to 100",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/relevance_score", &json!(70.0))),
        ),
        variant(
            "attune_gives_no_reasons",
            "relevance_reason is empty",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/relevance_reason", &json!(""))),
        ),
        variant(
            "attune_without_budget",
            "There is no context_budget",
            cases,
            tells("ATTUNE", |body| strip(body, "/context_budget")),
        ),
        variant(
            "attune_miscounts",
            "units_returned counts one too many",
            cases,
            tells("ATTUNE", |body| {
                let count = body["context_budget"]["units_returned"].as_u64().unwrap_or(0);
                body["context_budget"]["units_returned"] = json!(count + 1);
            }),
        ),
        variant(
            "attune_available_is_returned",
            "units_available counts only what is given",
            cases,
            tells("ATTUNE", |body| {
                body["context_budget"]["units_available"] =
                    body["context_budget"]["units_returned"].clone();
            }),
        ),
        variant(
            "attune_tells_no_conflicts",
            "conflicts is always empty",
            cases,
            tells("ATTUNE", |body| put(body, "/conflicts", &json!([]))),
        ),
        variant(
            "attune_forgets_escalated_conflicts",
            "Only conflicts with the status detected are given",
            cases,
            tells("ATTUNE", |body| keep(body, "/conflicts", |entry| entry["status"] == "detected")),
        ),
    ]
}

fn scores() -> Vec<Variant> {
    let cases = &["l0_attune_1", "l2_attune_2", "l2_scope_0", "l2_scope_11"];
    vec![
        variant(
            "attune_scores_alike",
            "Every unit scores 0.5",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/relevance_score", &json!(0.5))),
        ),
        variant(
            "attune_prefers_the_old",
            "The older a unit, the higher it scores",
            cases,
            tells("ATTUNE", |body| {
                each(body, "/record/*", &|item| {
                    let epoch = item["memory_unit"]["epoch"].as_f64().unwrap_or(0.0);
                    item["relevance_score"] = json!(1.0 / (1.0 + epoch));
                });
                if let Some(list) = body["record"].as_array_mut() {
                    list.sort_by_key(|item| item["memory_unit"]["epoch"].as_u64());
                }
            }),
        ),
        variant(
            "attune_ignores_the_hint",
            "context_hint is not looked at",
            cases,
            asks("ATTUNE", |payload| strip(payload, "/context_hint")),
        ),
    ]
}

fn polls() -> Vec<Variant> {
    let cases = &["l1_attune_06", "l1_attune_14", "l1_attune_2"];
    let later = |value: &mut Value| {
        if let Some(epoch) = value.as_u64() {
            *value = json!(epoch + 1);
        }
    };
    vec![
        variant(
            "attune_since_is_exclusive",
            "Units at since_epoch are left out",
            cases,
            asks("ATTUNE", move |payload| later(&mut payload["since_epoch"])),
        ),
        variant(
            "attune_since_of_the_scope_is_ignored",
            "since_epoch of the scope is not looked at",
            cases,
            asks("ATTUNE", |payload| strip(payload, "/scope/since_epoch")),
        ),
        variant(
            "attune_polls_too_far",
            "The watermark is beyond what was given",
            cases,
            tells("ATTUNE", |body| {
                body["epoch"] = json!(body["epoch"].as_u64().unwrap_or(0) + 3);
            }),
        ),
        variant(
            "attune_gives_units_twice",
            "Every unit is given twice",
            cases,
            tells("ATTUNE", |body| {
                if let Some(list) = body["record"].as_array_mut() {
                    *list = list.iter().flat_map(|item| [item.clone(), item.clone()]).collect();
                }
            }),
        ),
    ]
}
