//! REPLAY: how something came about, from the log alone.

use std::sync::Arc;

use crate::{
    compact::compact,
    support::{message, open_across, record, register},
};
use quipu_core::origin::ScriptedOrigin;
use quipu_field::{Field, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{RecordPayload, ReplayPayload, ReplayResponse},
};
use serde_json::{Value, json};

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

async fn replay(
    field: &Arc<Field>,
    kind: &str,
    id: &str,
    depth: &str,
) -> Result<ReplayResponse, ErrorCode> {
    let payload = json!({"target_type": kind, "target_id": id, "depth": depth});
    let (payload, _) = ReplayPayload::parse(payload).unwrap();
    let mut auditor = message("replay", "auditor");
    auditor.authority = 0;
    field.replay(auditor, payload).await.map_err(|error| error.code())
}

fn types(answer: &ReplayResponse) -> Vec<&str> {
    answer.timeline.iter().map(|event| event.event_type.as_str()).collect()
}

fn units(answer: &ReplayResponse) -> Vec<&str> {
    answer.timeline.iter().filter_map(|event| event.memory_unit_id.as_deref()).collect()
}

async fn put(field: &Field, id: &str, agent: &str, change: Value) -> (String, Vec<String>) {
    let mut payload = json!({"type": "finding", "content": id, "intent": {"purpose": "to test"},
                             "confidence": {"score": 0.5, "reasoning": "because"}});
    for (key, value) in change.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    let mut sent = message(id, agent);
    sent.session = change["session"].as_str().map(str::to_owned);
    let answer = field.record(sent, payload).await.unwrap();
    (answer.memory_unit_id, answer.conflicts_detected)
}

fn relation(kind: &str, target: &str) -> Value {
    json!([{"type": kind, "target_id": target}])
}

async fn growth_conflict(field: &Field) -> (String, String, String) {
    for agent in ["researcher-01", "researcher-02", "auditor"] {
        register(field, agent).await.unwrap();
    }
    let task = json!({"purpose": "to size the market", "task_id": "task-market-sizing"});
    let (first, _) =
        put(field, "1", "researcher-01", json!({"content": "23% CAGR", "intent": task})).await;
    put(field, "2", "researcher-01", json!({"content": "unrelated"})).await;
    let against = json!({"content": "14% CAGR", "relations": relation("contradicts", &first)});
    let (second, conflicts) = put(field, "3", "researcher-02", against).await;
    (first, second, conflicts[0].clone())
}

#[tokio::test]
async fn a_conflict_is_told_as_on_the_protocols_page() {
    let field = open_across(&engine(), None);
    let (first, second, conflict) = growth_conflict(&field).await;
    let answer = replay(&field, "conflict", &conflict, "detailed").await.unwrap();
    assert_eq!(types(&answer), ["RECORD", "RECORD", "CONFLICT_CREATED"]);
    assert_eq!(answer.total_events, 3);
    assert_eq!(answer.agents_involved, ["researcher-01", "researcher-02"]);
    assert_eq!(
        answer.summary,
        "Factual conflict between two findings. researcher-01 recorded 23% CAGR; researcher-02 \
         recorded 14% CAGR with contradicts relation. Not resolved yet. For \"23% CAGR\": because. \
         For \"14% CAGR\": because."
    );
    let told: Vec<(&str, &str)> = answer
        .timeline
        .iter()
        .map(|event| (event.agent_id.as_str(), event.description.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("researcher-01", "Recorded finding: 23% CAGR"),
            ("researcher-02", "Recorded contradicting finding: 14% CAGR"),
            ("system", "Explicit conflict created from contradicts relation"),
        ]
    );
    assert_eq!(units(&answer), [&first, &second]);
    assert_eq!(answer.timeline[0].task_id.as_deref(), Some("task-market-sizing"));
    assert_eq!(answer.timeline[1].epoch, answer.timeline[2].epoch, "one operation, one epoch");
    assert!(answer.timeline[0].timestamp.as_ref().unwrap().starts_with("2026-03-01T"));

    let brief = replay(&field, "conflict", &conflict, "summary").await.unwrap();
    assert!(brief.timeline.is_empty());
    assert_eq!((brief.summary, brief.total_events), (answer.summary, 3));
    let full = replay(&field, "conflict", &conflict, "full_trace").await.unwrap();
    assert_eq!(full.timeline.len(), 3);
    let contested = format!("; {first} active -> contested; {second} active -> contested");
    assert!(full.timeline[1].description.ends_with(&contested), "{:?}", full.timeline[1]);
}

#[tokio::test]
async fn the_log_alone_is_enough() {
    let engine = engine();
    let field = open_across(&engine, None);
    let (_, _, conflict) = growth_conflict(&field).await;
    let before = replay(&field, "conflict", &conflict, "full_trace").await.unwrap();
    field.close().await;
    drop(field);
    let again = open_across(&engine, None);
    assert_eq!(replay(&again, "conflict", &conflict, "full_trace").await, Ok(before));
}

#[tokio::test]
async fn causes_of_causes_belong_to_the_chain_and_what_came_of_them_later_does_not() {
    let field = open_across(&engine(), None);
    for agent in ["a", "b", "auditor"] {
        register(&field, agent).await.unwrap();
    }
    let (fact, _) = put(&field, "fact", "a", json!({})).await;
    let (reading, _) =
        put(&field, "reading", "b", json!({"relations": relation("depends_on", &fact)})).await;
    let because = json!({"type": "decision", "relations": relation("caused_by", &reading)});
    let (decision, _) = put(&field, "decision", "a", because).await;
    put(&field, "later", "b", json!({"relations": relation("depends_on", &decision)})).await;
    let doubt = json!({"relations": relation("contradicts", &fact)});
    let (doubt, _) = put(&field, "doubt", "b", doubt).await;

    let answer = replay(&field, "decision", &decision, "full_trace").await.unwrap();
    assert_eq!(units(&answer), [&fact, &reading, &decision]);
    assert_eq!(answer.agents_involved, ["a", "b"]);
    let own = replay(&field, "memory_unit", &fact, "full_trace").await.unwrap();
    assert_eq!(types(&own), ["RECORD", "RECORD", "CONFLICT_CREATED"]);
    assert_eq!(units(&own), [&fact, &doubt], "what happened to the target itself does belong");
}

#[tokio::test]
async fn a_superseded_unit_is_told_with_what_superseded_it() {
    let field = open_across(&engine(), None);
    for agent in ["a", "auditor"] {
        register(&field, agent).await.unwrap();
    }
    let (old, _) = put(&field, "old", "a", json!({})).await;
    let better = json!({"type": "correction", "relations": relation("supersedes", &old)});
    let (new, _) = put(&field, "new", "a", better).await;
    let answer = replay(&field, "memory_unit", &old, "full_trace").await.unwrap();
    assert_eq!(units(&answer), [&old, &new]);
    let description = &answer.timeline[1].description;
    assert_eq!(
        *description,
        format!("Recorded superseding correction: new; {old} active -> superseded")
    );
}

#[tokio::test]
async fn tasks_and_sessions_are_told_with_all_that_was_done_for_them_and_its_causes() {
    let field = open_across(&engine(), None);
    for agent in ["a", "b", "auditor"] {
        register(&field, agent).await.unwrap();
    }
    let (cause, _) = put(&field, "cause", "b", json!({})).await;
    let intent = json!({"purpose": "p", "task_id": "t-1"});
    let work =
        json!({"intent": intent, "session": "s-1", "relations": relation("depends_on", &cause)});
    let (work, _) = put(&field, "work", "a", work).await;
    put(&field, "elsewhere", "a", json!({"session": "s-2"})).await;
    for (kind, id) in [("task", "t-1"), ("session", "s-1")] {
        let answer = replay(&field, kind, id, "full_trace").await.unwrap();
        assert_eq!(units(&answer), [&cause, &work], "{kind}");
        assert_eq!(answer.agents_involved, ["b", "a"]);
        assert!(
            answer.summary.contains(&format!("{id}: 2 events by 2 agents")),
            "{}",
            answer.summary
        );
    }
    let filter = json!({"session_id": "s-1"});
    compact(&field, "c", json!({"strategy": "archive", "filter": filter})).await.unwrap();
    let answer = replay(&field, "session", "s-1", "detailed").await.unwrap();
    assert_eq!(
        types(&answer),
        ["RECORD", "RECORD", "COMPACT"],
        "an event that names it belongs to it"
    );
}

#[tokio::test]
async fn a_purged_unit_is_told_without_its_text_and_with_its_tombstone() {
    let field = open_across(&engine(), None);
    for agent in ["a", "auditor"] {
        register(&field, agent).await.unwrap();
    }
    let (unit, _) = put(&field, "secret", "a", json!({"session": "s"})).await;
    let payload =
        json!({"strategy": "purge", "filter": {"session_id": "s"}, "reason": "on request"});
    compact(&field, "c", payload).await.unwrap();
    let answer = replay(&field, "memory_unit", &unit, "detailed").await.unwrap();
    let told: Vec<&str> = answer.timeline.iter().map(|event| event.description.as_str()).collect();
    assert_eq!(told, ["Recorded finding: (erased)", &format!("Purged {unit}: on request")]);
    assert_eq!(units(&answer), [&unit, &unit]);
    assert!(answer.timeline[1].timestamp.is_some());
    assert!(!answer.summary.contains("secret"), "{}", answer.summary);
}

#[tokio::test]
async fn what_is_not_in_the_log_is_not_found() {
    let field = open_across(&engine(), None);
    register(&field, "auditor").await.unwrap();
    let (finding, _) = put(&field, "1", "auditor", json!({})).await;
    let nowhere = "mem-00000000000000000000000zzz";
    for (kind, id) in [
        ("task", "t"),
        ("session", "s"),
        ("memory_unit", "mem-nope"),
        ("memory_unit", nowhere),
        ("decision", nowhere),
        ("decision", finding.as_str()),
        ("conflict", finding.as_str()),
    ] {
        let answer = replay(&field, kind, id, "summary").await;
        assert_eq!(answer.err(), Some(ErrorCode::UnitNotFound), "{kind} {id}");
    }
    let (payload, _) =
        ReplayPayload::parse(json!({"target_type": "task", "target_id": "t"})).unwrap();
    let stranger = field.replay(message("r", "nobody"), payload).await.unwrap_err();
    assert_eq!(stranger.code(), ErrorCode::AgentNotRegistered);
}

#[tokio::test]
async fn a_chain_beyond_the_limit_is_refused_whole_and_told_in_brief() {
    let options = FieldOptions {
        replay_events_max: 40,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    let field = Field::open(engine(), FieldName::default_field(), options).unwrap();
    for agent in ["a", "auditor"] {
        register(&field, agent).await.unwrap();
    }
    let mut last = String::new();
    for number in 0..41 {
        let links = if number == 0 { json!([]) } else { relation("elaborates", &last) };
        let sent = message(&format!("m{number}"), "a");
        last = record(&field, sent, &format!("step {number}"), links).await.unwrap().memory_unit_id;
        if number == 39 {
            let fits = replay(&field, "memory_unit", &last, "full_trace").await.unwrap();
            assert_eq!((fits.timeline.len(), fits.total_events), (40, 40));
        }
    }
    for depth in ["full_trace", "detailed"] {
        let answer = replay(&field, "memory_unit", &last, depth).await;
        assert_eq!(answer.err(), Some(ErrorCode::ReplayTooLarge));
    }
    let brief = replay(&field, "memory_unit", &last, "summary").await.unwrap();
    assert_eq!(brief.total_events, 41);
    for told in ["step 40", "step 39", "step 34"] {
        assert!(brief.summary.contains(told), "{}", brief.summary);
    }
    assert!(brief.summary.ends_with("Besides: 33 more units."), "{}", brief.summary);
}
