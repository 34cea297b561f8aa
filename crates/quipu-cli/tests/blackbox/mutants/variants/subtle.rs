//! Servers that keep a rule in most cases and break it in one.

use serde_json::{Value, json};

use super::{
    tamper::{Tamper, after, asks, before, each, keep, pretends, put, swallows, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_half_kept_rule_is_caught() {
    let all =
        [records(), attunes(), orders(), registers(), pushed(), settled(), compacted(), hidden()];
    all_are_caught("subtle", all.into_iter().flatten().collect());
}

fn records() -> Vec<Variant> {
    let drafts_only = |change: fn(&mut Value)| {
        asks("RECORD", move |payload| {
            if payload["mode"] == "draft" {
                change(payload);
            }
        })
    };
    let cases = &["l0_record_0", "l1_record_10"];
    vec![
        variant(
            "subtle_drafts_need_no_intent",
            "Only committed units need a purpose",
            cases,
            drafts_only(|payload| {
                if payload["intent"]["purpose"].as_str().is_none_or(str::is_empty) {
                    payload["intent"] = json!({"purpose": "none"});
                }
            }),
        ),
        variant(
            "subtle_drafts_take_any_score",
            "Only committed units have their score checked",
            cases,
            drafts_only(|payload| {
                if let Some(score) = payload["confidence"]["score"].as_f64() {
                    payload["confidence"]["score"] = json!(score.clamp(0.0, 1.0));
                }
            }),
        ),
        variant(
            "subtle_reasoning_is_optional",
            "Only the score of a committed unit is required",
            cases,
            asks("RECORD", |payload| {
                if payload["confidence"]["score"].is_number()
                    && payload["confidence"]["reasoning"].is_null()
                {
                    payload["confidence"]["reasoning"] = json!("none");
                }
            }),
        ),
        variant(
            "subtle_score_is_optional",
            "Only the reasoning of a committed unit is required",
            cases,
            asks("RECORD", |payload| {
                if payload["confidence"]["reasoning"].is_string()
                    && payload["confidence"]["score"].is_null()
                {
                    payload["confidence"]["score"] = json!(0.5);
                }
            }),
        ),
    ]
}

fn attunes() -> Vec<Variant> {
    vec![
        variant(
            "subtle_budget_lies",
            "Nine of ten long units are given within any budget, and tokens_used says otherwise",
            &["l2_scope_05"],
            before("ATTUNE", |asked, _| {
                let scope = &mut asked.message["payload"]["scope"];
                if scope["max_tokens"].is_u64() {
                    asked.head.set("x-budget", "yes");
                    scope["max_tokens"] = json!(100_000);
                }
                None
            })
            .and(after("ATTUNE", |asked, answered, _| {
                if asked.head.header("x-budget").is_some() {
                    if let Some(list) = answered.body["record"].as_array_mut() {
                        list.pop();
                    }
                    answered.body["context_budget"]["tokens_used"] = json!(290);
                }
            })),
        ),
        variant(
            "subtle_left_agents_still_attune",
            "An agent that left cannot record, but attune",
            &["l1_deregister_01"],
            pretends("ATTUNE", &["AGENT_NOT_REGISTERED"]),
        ),
        variant(
            "subtle_conflicts_for_authors_only",
            "Only the authors are told of an open conflict",
            &["l1_attune_07"],
            after("ATTUNE", |asked, answered, past| {
                let reader = &asked.message["agent_id"];
                keep(&mut answered.body, "/conflicts", |conflict| {
                    let by = |side: &str| past.unit(&conflict[side]).map(|made| json!(made.agent));
                    [by("unit_a"), by("unit_b")].contains(&Some(reader.clone()))
                });
            }),
        ),
        variant(
            "subtle_conflicts_for_others_only",
            "The authors are not told of an open conflict",
            &["l1_attune_07"],
            after("ATTUNE", |asked, answered, past| {
                let reader = &asked.message["agent_id"];
                keep(&mut answered.body, "/conflicts", |conflict| {
                    let by = |side: &str| past.unit(&conflict[side]).map(|made| json!(made.agent));
                    ![by("unit_a"), by("unit_b")].contains(&Some(reader.clone()))
                });
            }),
        ),
    ]
}

fn orders() -> Vec<Variant> {
    vec![
        variant(
            "subtle_scores_below_zero",
            "The last unit scores below 0",
            &["l0_attune_05", "l0_attune_03"],
            tells("ATTUNE", |body| {
                if let Some(last) = body["record"].as_array_mut().and_then(|list| list.last_mut()) {
                    last["relevance_score"] = json!(-0.1);
                }
            }),
        ),
        variant(
            "subtle_last_two_are_swapped",
            "Only the end of the list is out of order",
            &["l0_attune_03"],
            tells("ATTUNE", |body| {
                if let Some(list) = body["record"].as_array_mut() {
                    let count = list.len();
                    if count > 1 {
                        list.swap(count - 1, count - 2);
                    }
                }
            }),
        ),
    ]
}

fn registers() -> Vec<Variant> {
    vec![
        variant(
            "subtle_names_one_missing_operation",
            "Of several missing operations only the first is named",
            &["l0_register_03"],
            after("REGISTER", |_, answered, _| {
                if answered.body["status"] == "rejected" && answered.body["code"].is_null() {
                    answered.body["rejection_reason"] = json!("DIVINATE is missing");
                }
            }),
        ),
        variant(
            "subtle_level_without_handoff",
            "Level 2 is claimed without HANDOFF",
            &["l1_register_09"],
            tells("REGISTER", |body| {
                put(body, "/field_capabilities/conformance_level", &json!(2));
                keep(body, "/field_capabilities/supported_operations", |name| name != "HANDOFF");
            }),
        ),
        variant(
            "subtle_forgets_persistence",
            "persistence is false",
            &["l1_register_08"],
            tells("REGISTER", |body| put(body, "/field_capabilities/persistence", &json!(false))),
        ),
    ]
}

fn pushed() -> Vec<Variant> {
    let unsubscribes = |payload: &Value| {
        payload["action"] == "unsubscribe" && payload["subscription"]["id"].is_string()
    };
    vec![
        variant(
            "subtle_unsubscribed_and_told",
            "What was unsubscribed is not listed, but still pushed",
            &["l2_subscribe_07"],
            swallows("SUBSCRIBE", unsubscribes)
                .and(tells("SUBSCRIBE", |body| put(body, "/subscriptions", &json!([])))),
        ),
        variant(
            "subtle_one_author_is_told",
            "Only the winner's author is notified of a resolution",
            &["l2_merge_05"],
            tells("MERGE", |body| {
                if let Some(list) =
                    body.pointer_mut("/side_effects/notified_agents").and_then(Value::as_array_mut)
                {
                    list.truncate(1);
                }
            }),
        ),
        variant(
            "subtle_task_moves_are_told_once",
            "Only the first move of a task is pushed",
            &["l3_event_08"],
            first_only("task.state_changed"),
        ),
    ]
}

/// Pushes only the first notification of a kind.
fn first_only(kind: &'static str) -> Tamper {
    let told = std::sync::atomic::AtomicBool::new(false);
    super::tamper::pushes(move |pushed| {
        let again =
            pushed.data["event"] == kind && told.swap(true, std::sync::atomic::Ordering::Relaxed);
        if again { vec![] } else { vec![pushed] }
    })
}

fn settled() -> Vec<Variant> {
    vec![
        variant(
            "subtle_escalated_after_resolved",
            "Only human_escalation can be tried on what is resolved",
            &["l2_merge_02"],
            after("MERGE", |asked, answered, _| {
                if asked.message["payload"]["strategy"] == "human_escalation"
                    && answered.has_code(&["INVALID_TRANSITION"])
                {
                    answered.status = 200;
                    answered.body = json!({"status": "escalated"});
                }
            }),
        ),
        variant(
            "subtle_resolution_is_not_kept",
            "The resolution is answered, and not stored",
            &["l2_merge_04"],
            tells("DETECT", |body| put(body, "/conflicts/*/resolution/rationale", &json!(""))),
        ),
        variant(
            "subtle_judge_is_not_involved",
            "REPLAY does not name who resolved a conflict",
            &["l2_replay_06"],
            tells("REPLAY", |body| keep_first(body, "/agents_involved", 2)),
        ),
        variant(
            "subtle_synthesis_of_one",
            "A synthesis points at one of its two sources",
            &["l3_strategy_07"],
            tells("ATTUNE", |body| {
                each(body, "/record/*/memory_unit", &|unit| keep_first(unit, "/relations", 1))
            }),
        ),
        variant(
            "subtle_one_original_stays",
            "Of two originals of a synthesis one is still given",
            &["l3_strategy_07"],
            tells("MERGE", |body| keep_first(body, "/side_effects/superseded_units", 1)),
        ),
    ]
}

/// Keeps so many elements of the list at a pointer.
fn keep_first(value: &mut Value, pointer: &str, count: usize) {
    if let Some(list) = value.pointer_mut(pointer).and_then(Value::as_array_mut) {
        list.truncate(count);
    }
}

fn compacted() -> Vec<Variant> {
    vec![
        variant(
            "subtle_summary_of_the_first",
            "A synthesis elaborates the first of its units alone",
            &["l2_compact_04"],
            tells("ATTUNE", |body| {
                each(body, "/record/*/memory_unit", &|unit| keep_first(unit, "/relations", 1))
            }),
        ),
        variant(
            "subtle_tombstone_says_nothing",
            "The tombstone of a purge does not say what happened",
            &["l3_compact_14"],
            tells("REPLAY", |body| {
                each(body, "/timeline/*", &|event| {
                    if event["event_type"] == "COMPACT" {
                        event["description"] = json!("");
                    }
                });
            }),
        ),
        variant(
            "subtle_purge_on_demand",
            "A purged unit is given on demand",
            &["l3_compact_13"],
            asks("COMPACT", |payload| {
                if payload["strategy"] == "purge" {
                    payload["strategy"] = json!("archive");
                }
            }),
        ),
    ]
}

fn hidden() -> Vec<Variant> {
    vec![
        variant(
            "subtle_attune_tells_conflicts",
            "ATTUNE shows hidden conflicts, DETECT does not",
            &["l3_visibility_07"],
            after("ATTUNE", |_, answered, past| {
                let made = past.of("RECORD").into_iter().flat_map(|made| {
                    made.answer["conflicts_detected"].as_array().cloned().unwrap_or_default()
                });
                if let Some(list) = answered.body["conflicts"].as_array_mut() {
                    list.extend(made.map(|id| json!({"id": id, "status": "detected"})));
                }
            }),
        ),
        variant(
            "subtle_session_by_name",
            "Whoever names a session is given its units",
            &["l3_visibility_02"],
            before("ATTUNE", |asked, past| {
                let session = asked.message["session_id"].clone();
                let created = past.last("SESSION", |act| {
                    act.payload["action"] == "create" && act.answer["session"]["id"] == session
                })?;
                asked.message["agent_id"] = json!(created.agent);
                asked.message["payload"]["scope"]["include_own"] = json!(true);
                None
            }),
        ),
    ]
}
