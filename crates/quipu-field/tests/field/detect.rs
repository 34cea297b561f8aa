//! DETECT in its three modes, with the detector that finds nothing and with one that does.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
    mpsc::{Receiver, channel},
};

use crate::support::{eventually, message, open, record, register};
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
    assert_eq!(again.conflicts.len(), 3);
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

/// Takes its time over each pair of texts, and counts them.
#[derive(Debug)]
struct Patient {
    judged: AtomicUsize,
    /// Open when nobody can send any more.
    gate: Mutex<Receiver<()>>,
}

impl Detector for Patient {
    fn probe(&self, content: &str) -> Option<Probe> {
        Some(Probe::of(content))
    }

    fn candidates(
        &self,
        index: &Index,
        probe: &Probe,
        limit: usize,
        sieve: &Sieve<'_>,
    ) -> Vec<Candidate> {
        Percentages.candidates(index, probe, limit, sieve)
    }

    fn judge(
        &self,
        _older: &Claim<'_>,
        _newer: &Claim<'_>,
        _closeness: f32,
    ) -> Option<Disagreement> {
        self.judged.fetch_add(1, Ordering::SeqCst);
        self.gate.lock().unwrap().recv().ok();
        None
    }
}

#[tokio::test]
async fn a_scan_goes_on_where_the_one_before_stopped_and_comes_to_an_end() {
    let detector: Arc<dyn Detector> = Arc::new(Percentages);
    let detection =
        DetectionOptions { automatic: false, scan_units_max: 2, ..detection(&detector) };
    let field = with(&engine(), detection);
    register(&field, "a").await.unwrap();
    for content in ["23%", "14%", "words", "7%", "9%"] {
        say(&field, content).await;
    }
    let (mut cursor, mut scanned, mut found) = (None, Vec::new(), 0);
    loop {
        let mut asked = json!({"mode": "scan"});
        if let Some(cursor) = cursor {
            asked["cursor"] = Value::String(cursor);
        }
        let page = detect(&field, asked).await.unwrap();
        scanned.push(page.scan_coverage.units_scanned);
        found += page.scan_coverage.new_conflicts_found;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((scanned, found), (vec![2, 2, 1], 6), "four percentages, each against each other");
    let unknown = detect(&field, json!({"mode": "scan", "cursor": "mem-nothing"})).await;
    assert_eq!(unknown.unwrap_err().code(), ErrorCode::InvalidPayload);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_stops_when_its_caller_leaves() {
    let (shut, gate) = channel();
    let patient = Arc::new(Patient { judged: AtomicUsize::new(0), gate: Mutex::new(gate) });
    let detector: Arc<dyn Detector> = Arc::clone(&patient) as Arc<dyn Detector>;
    let detection = DetectionOptions { automatic: false, ..detection(&detector) };
    let field = with(&engine(), detection);
    register(&field, "a").await.unwrap();
    for content in 0..50 {
        say(&field, &format!("{content}%")).await;
    }
    let scanning = {
        let field = Arc::clone(&field);
        tokio::spawn(async move { detect(&field, json!({"mode": "scan"})).await })
    };
    eventually("a unit is judged", || patient.judged.load(Ordering::SeqCst) > 0).await;
    scanning.abort();
    assert!(scanning.await.unwrap_err().is_cancelled());
    drop(shut);
    // The work holds the Field until it ends.
    eventually("the work ends", || Arc::strong_count(&field) == 1).await;
    let judged = patient.judged.load(Ordering::SeqCst);
    assert!(judged <= 2, "it went on for {judged} pairs");
}
