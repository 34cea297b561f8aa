//! DETECT in its three modes, with the detector that finds nothing and with one that does.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use quipu_core::origin::ScriptedOrigin;
use quipu_field::{DetectionOptions, Field, FieldError, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_recall::{
    Claim, Detector, Disagreement, Index, Method,
    detect::{Candidate, Probe, Sieve},
};
use quipu_wire::{
    ErrorCode,
    akashik::{
        ConflictStatus, DetectPayload, DetectResponse, DetectedBy, MergePayload, UnitStatus,
    },
};
use serde_json::{Value, json};

/// Takes every other unit for a candidate, and two percentages that differ for a disagreement.
#[derive(Debug)]
pub(crate) struct Percentages;

impl Detector for Percentages {
    fn probe(&self, content: &str) -> Option<Probe> {
        Some(Probe::of(content))
    }

    fn candidates(
        &self,
        index: &Index,
        _probe: &Probe,
        limit: usize,
        sieve: &Sieve<'_>,
    ) -> Vec<Candidate> {
        let documents = 0..u32::try_from(index.len()).unwrap();
        let accepted = documents.filter(|document| (sieve.accept)(*document));
        accepted.take(limit).map(|document| Candidate { document, closeness: 1.0 }).collect()
    }

    fn judge(&self, older: &Claim<'_>, newer: &Claim<'_>, _closeness: f32) -> Option<Disagreement> {
        assert!(older.confidence.is_some());
        let both = older.content.ends_with('%') && newer.content.ends_with('%');
        (both && older.content != newer.content).then(|| Disagreement {
            method: Method::Semantic,
            sureness: 0.9,
            reason: format!("{} against {}", older.content, newer.content),
        })
    }
}

pub(crate) fn with_detector(engine: &Arc<dyn Engine>) -> Arc<Field> {
    let detector: Arc<dyn Detector> = Arc::new(Percentages);
    let detection = DetectionOptions { automatic: false, ..detection(&detector) };
    with(engine, detection)
}

fn detection(detector: &Arc<dyn Detector>) -> DetectionOptions {
    DetectionOptions { detector: Some(Arc::clone(detector)), ..DetectionOptions::default() }
}

fn with(engine: &Arc<dyn Engine>, detection: DetectionOptions) -> Arc<Field> {
    let options =
        FieldOptions { detection, ..FieldOptions::new(Arc::new(ScriptedOrigin::default())) };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

pub(crate) async fn detect(
    field: &Arc<Field>,
    payload: Value,
) -> Result<DetectResponse, FieldError> {
    let (payload, _) = DetectPayload::parse(payload).unwrap();
    field.detect(message("look", "a"), payload).await
}

async fn say(field: &Field, content: &str) -> String {
    record(field, message(content, "a"), content, json!([])).await.unwrap().memory_unit_id
}

#[tokio::test]
async fn without_a_method_check_and_scan_give_what_authors_said_and_how_much_was_looked_at() {
    let field = open(&engine(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let old = say(&field, "23%").await;
    let apart = say(&field, "something else").await;
    let against = json!([{"type": "contradicts", "target_id": old}]);
    let new = record(&field, message("m", "b"), "14%", against).await.unwrap();
    let head = field.head();
    let scan = detect(&field, json!({"mode": "scan"})).await.unwrap();
    assert_eq!(scan.conflicts[0].id, new.conflicts_detected[0]);
    let coverage = scan.scan_coverage;
    assert_eq!((coverage.units_scanned, coverage.new_conflicts_found), (3, 0));
    for (unit, found) in [(&old, 1), (&new.memory_unit_id, 1), (&apart, 0)] {
        let check = detect(&field, json!({"mode": "check", "target_id": unit})).await.unwrap();
        assert_eq!((check.conflicts.len(), check.scan_coverage.units_scanned), (found, 2));
    }
    for (filter, found) in [
        (json!({"status": ["detected"]}), 1),
        (json!({"status": ["resolved"]}), 0),
        (json!({"types": ["priority"]}), 0),
        (json!({"involving_agents": ["b"]}), 1),
        (json!({"involving_agents": ["c"]}), 0),
    ] {
        let scan = detect(&field, json!({"mode": "scan", "filter": filter})).await.unwrap();
        assert_eq!(scan.conflicts.len(), found, "{filter}");
    }
    assert_eq!(field.head(), head, "nothing new, nothing written");
}

#[tokio::test]
async fn checking_a_unit_that_is_not_there_is_an_error() {
    let field = open(&engine(), None);
    register(&field, "a").await.unwrap();
    for target in ["mem-002", "mem-00000000000000000000000000", "x"] {
        let refused = detect(&field, json!({"mode": "check", "target_id": target})).await;
        let error = refused.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnitNotFound);
        assert_eq!(error.to_string(), format!("payload.target_id: no unit {target}"));
    }
}

#[tokio::test]
async fn what_a_detector_finds_is_a_conflict_once_and_contests_both_units() {
    let engine = engine();
    let field = with_detector(&engine);
    register(&field, "a").await.unwrap();
    let (old, new) = (say(&field, "23%").await, say(&field, "14%").await);
    say(&field, "no number").await;
    let check = detect(&field, json!({"mode": "check", "target_id": new})).await.unwrap();
    assert_eq!(check.scan_coverage.new_conflicts_found, 1);
    let conflict = &check.conflicts[0];
    assert_eq!((&conflict.unit_a, &conflict.unit_b), (&old, &new));
    assert_eq!(conflict.detected_by, DetectedBy::Semantic);
    assert_eq!(conflict.description, "23% against 14%");
    assert_eq!(
        field.unit(quipu_core::Reader::operator(), &old).await.unwrap().status,
        UnitStatus::Contested
    );
    let scan = detect(&field, json!({"mode": "scan"})).await.unwrap();
    assert_eq!((scan.conflicts.len(), scan.scan_coverage.new_conflicts_found), (1, 0));
    assert_eq!(open(&engine, None).state_hash(), field.state_hash());
}

#[tokio::test]
async fn a_scan_finds_every_pair_and_what_was_settled_is_not_found_again() {
    let field = with_detector(&engine());
    register(&field, "a").await.unwrap();
    for content in ["23%", "14%", "19%"] {
        say(&field, content).await;
    }
    let scan = detect(&field, json!({"mode": "scan"})).await.unwrap();
    let coverage = scan.scan_coverage;
    assert_eq!((coverage.units_scanned, coverage.new_conflicts_found), (3, 3));
    for (at, conflict) in scan.conflicts.iter().enumerate() {
        let payload = json!({"conflict_id": conflict.id, "strategy": "last_write_wins",
                             "resolution": {"rationale": "newest"}});
        let (payload, _) = MergePayload::parse(payload).unwrap();
        field.merge(message(&format!("merge-{at}"), "a"), payload).await.unwrap();
    }
    let again = detect(&field, json!({"mode": "scan"})).await.unwrap();
    let coverage = again.scan_coverage;
    assert_eq!((coverage.units_scanned, coverage.new_conflicts_found), (1, 0));
    assert!(again.conflicts.iter().all(|one| one.status == ConflictStatus::Resolved));
    assert!(again.conflicts.iter().all(|one| one.resolution.is_some()));
}

#[tokio::test]
async fn looking_again_does_not_dig_up_what_was_less_sure() {
    let field = with_detector(&engine());
    register(&field, "a").await.unwrap();
    for share in 10..30 {
        say(&field, &format!("{share}%")).await;
    }
    let scan = detect(&field, json!({"mode": "scan"})).await.unwrap();
    assert!(scan.scan_coverage.new_conflicts_found > 0, "each disagrees with all others");
    let again = detect(&field, json!({"mode": "scan"})).await.unwrap();
    assert_eq!(again.scan_coverage.new_conflicts_found, 0);
}
