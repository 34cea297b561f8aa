//! Several units in one RECORD: all or none, and as if they had come one after another.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use proptest::prelude::*;
use quipu_core::Reader;
use quipu_field::{Field, FieldError};
use quipu_log::{Engine, Head, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{RecordResponse, RecordsPayload, ReplayDepth, ReplayPayload, ReplayTarget},
};
use serde_json::{Value, json};

/// How many units are there before those that are compared.
const OLD: usize = 3;

fn unit(content: &str, mode: &str, relations: &Value) -> Value {
    json!({
        "mode": mode, "type": "finding", "content": content, "intent": {"purpose": "to test"},
        "confidence": {"score": 0.5, "reasoning": "because"}, "relations": relations,
    })
}

async fn record_all(
    field: &Field,
    id: &str,
    units: &[Value],
) -> Result<Vec<RecordResponse>, FieldError> {
    let (payload, ..) = RecordsPayload::parse(json!({ "units": units })).unwrap();
    field.record_all(message(id, "a"), payload).await
}

fn reader() -> Reader {
    Reader { agent: Some("a".to_owned()), session: None, authority: 10, everywhere: false }
}

async fn team() -> (Arc<dyn Engine>, Arc<Field>, Vec<String>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let mut old = Vec::new();
    for number in 0..OLD {
        let from = message(&format!("old-{number}"), "a");
        let recorded = record(&field, from, &format!("old {number}"), json!([])).await.unwrap();
        old.push(recorded.memory_unit_id);
    }
    (engine, field, old)
}

/// What can be told of a Field without ids and times.
async fn standing(field: &Arc<Field>, units: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    for id in units {
        let unit = field.unit(reader(), id).await.unwrap();
        told.push(format!("{} {:?} {:?}", unit.content, unit.mode, unit.status));
    }
    let place = |id: &str| units.iter().position(|unit| unit == id).unwrap();
    for conflict in field.conflicts().await.unwrap().conflicts {
        let (a, b) = (place(&conflict.unit_a), place(&conflict.unit_b));
        told.push(format!("{a} against {b}: {:?} {}", conflict.status, conflict.detected_by));
    }
    told
}

#[tokio::test]
async fn units_that_come_together_are_one_commit_with_an_answer_for_each() {
    let (_, field, old) = team().await;
    let before = field.head().position;
    let against = json!([{"type": "contradicts", "target_id": old[0]}]);
    let units = [
        unit("one", "committed", &json!([])),
        unit("two", "draft", &json!([])),
        unit("three", "committed", &against),
    ];
    let answers = record_all(&field, "m1", &units).await.unwrap();
    assert_eq!(field.head().position, before + 1);
    assert!(answers.iter().all(|answer| answer.epoch == field.head().epoch));
    let conflicts: Vec<_> = answers.iter().map(|a| a.conflicts_detected.len()).collect();
    assert_eq!(conflicts, [0, 0, 1]);
    for (answer, content) in answers.iter().zip(["one", "two", "three"]) {
        assert_eq!(field.unit(reader(), &answer.memory_unit_id).await.unwrap().content, content);
    }
}

#[tokio::test]
async fn one_that_cannot_be_recorded_refuses_them_all_and_is_named() {
    let (_, field, _) = team().await;
    let before = field.head();
    let nowhere = json!([{"type": "supersedes", "target_id": "mem-nowhere"}]);
    let units = [unit("one", "committed", &json!([])), unit("two", "committed", &nowhere)];
    let refused = record_all(&field, "m1", &units).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnitNotFound);
    assert!(
        refused.to_string().starts_with("payload.units[1].relations[0].target_id"),
        "{refused}"
    );
    assert_eq!(field.head(), before);
    let good = record_all(&field, "m1", &units[..1]).await;
    good.expect("the id of a message that was refused is free");
}

#[tokio::test]
async fn the_same_units_under_the_same_id_are_recorded_once() {
    let (engine, field, _) = team().await;
    let units = [unit("one", "committed", &json!([])), unit("two", "committed", &json!([]))];
    let first = record_all(&field, "m1", &units).await.unwrap();
    field.close().await;
    let field = open(&engine, None);
    assert_eq!(record_all(&field, "m1", &units).await.unwrap(), first);
    let swapped = [units[1].clone(), units[0].clone()];
    for other in [&units[..1], &swapped[..]] {
        let refused = record_all(&field, "m1", other).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::MessageIdReused);
    }
}

#[tokio::test]
async fn a_replay_of_one_tells_its_own_story() {
    let (_, field, old) = team().await;
    let instead = json!([{"type": "supersedes", "target_id": old[0]}]);
    let units = [unit("one", "committed", &instead), unit("two", "committed", &json!([]))];
    let answers = record_all(&field, "m1", &units).await.unwrap();
    let target_id = answers[1].memory_unit_id.clone();
    let payload = ReplayPayload {
        target_type: ReplayTarget::MemoryUnit,
        target_id: target_id.clone(),
        depth: ReplayDepth::FullTrace,
        ..ReplayPayload::parse(json!({"target_type": "memory_unit", "target_id": "x"})).unwrap().0
    };
    let story = field.replay(message("look", "a"), payload).await.unwrap();
    let told = serde_json::to_string(&story).unwrap();
    assert!(told.contains(&target_id), "{told}");
    assert!(!told.contains(&old[0]), "what the other one replaced is not its story: {told}");
}

/// A unit of a run: whether it is a draft, and what it says of which of the old units.
type Sketch = (bool, Vec<(bool, usize)>);

fn sketched(number: usize, (draft, links): &Sketch, old: &[String]) -> Value {
    let links = links.iter().map(|(supersedes, target)| {
        let kind = if *supersedes { "supersedes" } else { "contradicts" };
        json!({"type": kind, "target_id": old[*target]})
    });
    let mode = if *draft { "draft" } else { "committed" };
    unit(&format!("new {number}"), mode, &links.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn together_they_leave_what_they_leave_one_after_another(
        sketches in proptest::collection::vec(
            (any::<bool>(), proptest::collection::vec((any::<bool>(), 0..OLD), 0..4)), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut left = Vec::new();
            for together in [true, false] {
                let (engine, field, mut all) = team().await;
                let units = sketches.iter().enumerate();
                let units: Vec<_> = units.map(|(n, sketch)| sketched(n, sketch, &all)).collect();
                let chunks = units.chunks(if together { units.len() } else { 1 });
                let mut conflicts = Vec::new();
                for (number, chunk) in chunks.enumerate() {
                    for answer in record_all(&field, &format!("m{number}"), chunk).await.unwrap() {
                        conflicts.push(answer.conflicts_detected.len());
                        all.push(answer.memory_unit_id);
                    }
                }
                let now = standing(&field, &all).await;
                field.close().await;
                let again = open(&engine, None);
                assert_ne!(again.head(), Head::EMPTY);
                assert_eq!(standing(&again, &all).await, now);
                left.push((now, conflicts));
            }
            assert_eq!(left[0], left[1]);
        });
    }
}
