//! Servers that tell stories wrongly.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{
    tamper::{after, asks, complains, each, keep, pretends, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_story_is_caught() {
    let all = [partial(), shapes(), orders(), targets(), reasons(), arguments()];
    all_are_caught("replay", all.into_iter().flatten().collect());
}

fn partial() -> Vec<Variant> {
    let cases = &["_replay_"];
    let drops = |kind: &'static str| {
        tells("REPLAY", move |body| keep(body, "/timeline", |event| event["event_type"] != kind))
    };
    vec![
        variant(
            "replay_partial",
            "Long stories are cut to their last three events",
            cases,
            tells("REPLAY", |body| {
                if let Some(list) = body["timeline"].as_array_mut() {
                    list.drain(..list.len().saturating_sub(3));
                }
            }),
        ),
        variant(
            "replay_without_merges",
            "How a conflict was resolved is not told",
            cases,
            drops("MERGE"),
        ),
        variant(
            "replay_without_conflicts",
            "That a conflict came up is not told",
            cases,
            drops("CONFLICT_CREATED"),
        ),
        variant(
            "replay_of_the_target_alone",
            "What led to a unit is not told",
            cases,
            after("REPLAY", |asked, answered, _| {
                let payload = &asked.message["payload"];
                if payload["target_type"] == "decision" || payload["target_type"] == "memory_unit" {
                    let target = payload["target_id"].clone();
                    keep(&mut answered.body, "/timeline", |event| {
                        event["memory_unit_id"] == target
                    });
                }
            }),
        ),
        variant(
            "replay_from_the_state",
            "Units that were superseded are told as the work of others",
            cases,
            after("REPLAY", |_, answered, past| {
                let gone =
                    past.of("RECORD").into_iter().map(|made| made.payload["relations"].to_string());
                let gone = gone.filter(|text| text.contains("supersedes")).collect::<String>();
                each(&mut answered.body, "/timeline/*", &|event| {
                    let unit = event["memory_unit_id"].as_str().unwrap_or("-");
                    if gone.contains(unit) {
                        event["agent_id"] = json!("system");
                    }
                });
            }),
        ),
        variant(
            "replay_forgets_tasks",
            "Events do not name their task",
            cases,
            tells("REPLAY", |body| put(body, "/timeline/*/task_id", &Value::Null)),
        ),
        variant(
            "replay_sessions_without_units",
            "What was recorded in a session is not told",
            cases,
            after("REPLAY", |asked, answered, _| {
                if asked.message["payload"]["target_type"] == "session" {
                    keep(&mut answered.body, "/timeline", |event| event["event_type"] != "RECORD");
                }
            }),
        ),
    ]
}

fn shapes() -> Vec<Variant> {
    let cases = &["_replay_"];
    vec![
        variant(
            "replay_without_words",
            "The summary is empty",
            cases,
            tells("REPLAY", |body| put(body, "/summary", &json!(""))),
        ),
        variant(
            "replay_without_agents",
            "agents_involved is empty",
            cases,
            tells("REPLAY", |body| put(body, "/agents_involved", &json!([]))),
        ),
        variant(
            "replay_without_unit_ids",
            "Events do not name their unit",
            cases,
            tells("REPLAY", |body| put(body, "/timeline/*/memory_unit_id", &Value::Null)),
        ),
        variant(
            "replay_without_descriptions",
            "Events have no description",
            cases,
            tells("REPLAY", |body| strip(body, "/timeline/*/description")),
        ),
        variant(
            "replay_hides_the_system",
            "What the Field does is told as the work of an agent",
            cases,
            tells("REPLAY", |body| {
                each(body, "/timeline/*", &|event| {
                    if event["agent_id"] == "system" {
                        event["agent_id"] = json!("somebody");
                    }
                });
            }),
        ),
        variant(
            "replay_counts_what_it_shows",
            "total_events is the length of the timeline",
            cases,
            tells("REPLAY", |body| {
                let shown = body["timeline"].as_array().map_or(0, Vec::len);
                body["total_events"] = json!(shown / 2);
            }),
        ),
    ]
}

fn orders() -> Vec<Variant> {
    let cases = &["_replay_"];
    let count = AtomicU64::new(0);
    vec![
        variant(
            "replay_backwards",
            "The last event comes first",
            cases,
            tells("REPLAY", |body| {
                if let Some(list) = body["timeline"].as_array_mut() {
                    list.reverse();
                }
            }),
        ),
        variant(
            "replay_never_the_same",
            "The same REPLAY tells something else each time",
            cases,
            tells("REPLAY", move |body| {
                let number = count.fetch_add(1, Ordering::Relaxed);
                put(body, "/timeline/*/description", &json!(format!("told {number} times")));
            }),
        ),
    ]
}

fn targets() -> Vec<Variant> {
    let cases = &["_replay_"];
    vec![
        variant(
            "replay_of_nothing",
            "A missing target has an empty story",
            cases,
            pretends("REPLAY", &["UNIT_NOT_FOUND"]),
        ),
        variant(
            "replay_takes_bad_requests",
            "Unknown types and depths are acknowledged",
            cases,
            pretends("REPLAY", &["INVALID_PAYLOAD"]),
        ),
        variant(
            "replay_another_code",
            "A missing target answers CONFLICT_NOT_FOUND",
            cases,
            complains("REPLAY", |body| put(body, "/code", &json!("CONFLICT_NOT_FOUND"))),
        ),
    ]
}

fn reasons() -> Vec<Variant> {
    let cases = &["_replay_"];
    vec![
        variant(
            "replay_without_reasons",
            "Events do not say why",
            cases,
            tells("REPLAY", |body| {
                strip(body, "/timeline/*/why");
                strip(body, "/timeline/*/reasons");
            }),
        ),
        variant(
            "replay_one_reason_for_all",
            "A full trace has one sentence of all that was given",
            cases,
            tells("REPLAY", |body| strip(body, "/timeline/*/reasons")),
        ),
        variant(
            "replay_one_depth",
            "Every depth tells everything",
            cases,
            asks("REPLAY", |payload| {
                if payload["depth"] == "summary" || payload["depth"] == "detailed" {
                    payload["depth"] = json!("full_trace");
                }
            }),
        ),
    ]
}

/// Changes the sentences of the summary.
fn retold(body: &mut Value, change: impl Fn(Vec<&str>) -> Vec<&str>) {
    let summary = body["summary"].as_str().unwrap_or_default().to_owned();
    body["summary"] = json!(change(summary.split(". ").collect()).join(". "));
}

fn arguments() -> Vec<Variant> {
    let cases = &["_replay_"];
    vec![
        variant(
            "replay_tells_first_and_last",
            "The summary has the beginning and the end of a story",
            cases,
            tells("REPLAY", |body| {
                retold(body, |sentences| {
                    let first = sentences.iter().take(2).copied();
                    first.chain(sentences.last().copied()).collect()
                });
            }),
        ),
        variant(
            "replay_without_disputes",
            "The summary does not tell how disputes ended",
            cases,
            tells("REPLAY", |body| {
                retold(body, |mut sentences| {
                    sentences.retain(|sentence| !sentence.starts_with("Settled"));
                    sentences
                });
            }),
        ),
        variant(
            "replay_ever_longer",
            "The longer a chain, the longer its summary",
            cases,
            tells("REPLAY", |body| {
                let total = body["total_events"].as_u64().unwrap_or_default();
                let times = usize::try_from(total / 5).unwrap_or(1).max(1);
                let summary = body["summary"].as_str().unwrap_or_default().repeat(times);
                body["summary"] = json!(summary);
            }),
        ),
    ]
}
