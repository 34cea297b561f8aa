//! RECORD that looks for what disagrees: at once, later, not at all, and never for eyes that may not see.

use std::sync::Arc;

use crate::{
    replay_words::{descriptions, replay},
    support::{message, record, register},
};
use quipu_core::{Message, Reader, origin::ScriptedOrigin};
use quipu_field::{DetectionOptions, Field, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_recall::{
    Claim, Disagreement,
    detect::{Judge, JudgeError, Opinion},
};
use quipu_wire::akashik::{
    ConflictDetection, DetectPayload, DetectedBy, RecordPayload, RecordResponse, UnitStatus,
};
use serde_json::{Value, json};

const YES: &str = "The payments service supports refunds in Europe.";
const NO: &str = "The payments service does not support refunds in Europe.";

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

/// The built-in detector with a budget that scripted time, which moves with every draw, never spends.
fn unhurried() -> DetectionOptions {
    DetectionOptions { budget_ms: 1_000_000, ..DetectionOptions::built_in(0.6) }
}

fn open(engine: &Arc<dyn Engine>, detection: DetectionOptions) -> Arc<Field> {
    let options =
        FieldOptions { detection, ..FieldOptions::new(Arc::new(ScriptedOrigin::default())) };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn say(field: &Field, id: &str, content: &str) -> RecordResponse {
    record(field, message(id, "a"), content, json!([])).await.unwrap()
}

async fn status(field: &Arc<Field>, unit: &str) -> UnitStatus {
    field.unit(Reader::operator(), unit).await.unwrap().status
}

async fn listed(field: &Arc<Field>, by: Message) -> Vec<quipu_wire::akashik::Conflict> {
    let (payload, _) = DetectPayload::parse(json!({"mode": "list"})).unwrap();
    field.detect(by, payload).await.unwrap().conflicts
}

#[tokio::test]
async fn a_unit_that_denies_another_is_in_conflict_with_it_in_the_same_commit() {
    let engine = engine();
    let field = open(&engine, unhurried());
    register(&field, "a").await.unwrap();
    let yes = say(&field, "yes", YES).await;
    let position = field.head().position;
    let no = say(&field, "no", NO).await;
    assert_eq!(field.head().position, position + 1);
    assert_eq!((no.conflicts_detected.len(), no.conflict_detection), (1, None));
    let conflict = listed(&field, message("l", "a")).await.remove(0);
    let story = replay(&field, "conflict", &conflict.id).await;
    let found = descriptions(&story).pop().unwrap();
    assert!(found.ends_with(&conflict.description), "REPLAY says what disagrees: {found}");
    assert_eq!(conflict.id, no.conflicts_detected[0]);
    assert_eq!((&conflict.unit_a, &conflict.unit_b), (&yes.memory_unit_id, &no.memory_unit_id));
    assert_eq!(conflict.detected_by, DetectedBy::Semantic);
    assert!(conflict.description.contains(YES.trim_end_matches('.')), "{}", conflict.description);
    for unit in [&yes.memory_unit_id, &no.memory_unit_id] {
        assert_eq!(status(&field, unit).await, UnitStatus::Contested, "and nothing is superseded");
    }
    field.detection_settled().await.unwrap();
    let again = open(&engine, DetectionOptions::default());
    assert_eq!(again.state_hash(), field.state_hash(), "the log alone says what was found");
}

#[tokio::test]
async fn the_same_message_again_is_answered_with_the_same_conflicts() {
    let field = open(&engine(), unhurried());
    register(&field, "a").await.unwrap();
    say(&field, "yes", YES).await;
    let first = say(&field, "no", NO).await;
    let head = field.head();
    let again = say(&field, "no", NO).await;
    assert_eq!(again.conflicts_detected, first.conflicts_detected);
    field.detection_settled().await.unwrap();
    assert_eq!(field.head(), head);
}

#[tokio::test]
async fn without_time_detection_is_deferred_and_finished_in_the_background() {
    let field = open(&engine(), DetectionOptions { budget_ms: 0, ..unhurried() });
    register(&field, "a").await.unwrap();
    say(&field, "yes", YES).await;
    let no = say(&field, "no", NO).await;
    assert!(no.conflicts_detected.is_empty());
    assert_eq!(no.conflict_detection, Some(ConflictDetection::Deferred));
    field.detection_settled().await.unwrap();
    assert_eq!(field.detection_backlog(), 0);
    assert_eq!(listed(&field, message("l", "a")).await.len(), 1);
    assert_eq!(status(&field, &no.memory_unit_id).await, UnitStatus::Contested);
}

#[tokio::test]
async fn units_recorded_at_the_same_time_are_held_against_each_other_too() {
    let field = open(&engine(), unhurried());
    register(&field, "a").await.unwrap();
    let (yes, no) = tokio::join!(say(&field, "yes", YES), say(&field, "no", NO));
    field.detection_settled().await.unwrap();
    let found = yes.conflicts_detected.len() + no.conflicts_detected.len();
    assert!(found <= 1);
    assert_eq!(listed(&field, message("l", "a")).await.len(), 1);
}

#[tokio::test]
async fn turned_off_only_detect_looks() {
    let field = open(&engine(), DetectionOptions { automatic: false, ..unhurried() });
    register(&field, "a").await.unwrap();
    say(&field, "yes", YES).await;
    let no = say(&field, "no", NO).await;
    assert!(no.conflicts_detected.is_empty() && no.conflict_detection.is_none());
    let check = json!({"mode": "check", "target_id": no.memory_unit_id});
    let (payload, _) = DetectPayload::parse(check).unwrap();
    let found = field.detect(message("c", "a"), payload).await.unwrap();
    assert_eq!(found.scan_coverage.new_conflicts_found, 1);
}

#[tokio::test]
async fn a_draft_is_nobodys_claim_and_contests_nothing() {
    let field = open(&engine(), unhurried());
    register(&field, "a").await.unwrap();
    let yes = say(&field, "yes", YES).await;
    let draft =
        json!({"mode": "draft", "type": "finding", "content": NO, "intent": {"purpose": "p"}});
    let (payload, _) = RecordPayload::parse(draft).unwrap();
    let answer = field.record(message("d", "a"), payload).await.unwrap();
    assert!(answer.conflicts_detected.is_empty() && answer.conflict_detection.is_none());
    let again = say(&field, "yes again", "The payments service supports refunds.").await;
    assert!(again.conflicts_detected.is_empty());
    field.detection_settled().await.unwrap();
    assert_eq!(status(&field, &yes.memory_unit_id).await, UnitStatus::Active);
}

#[tokio::test]
async fn what_the_author_has_related_already_is_not_found_once_more() {
    let field = open(&engine(), unhurried());
    register(&field, "a").await.unwrap();
    let yes = say(&field, "yes", YES).await.memory_unit_id;
    for (id, kind, conflicts) in [("no", "contradicts", 1), ("new", "supersedes", 0)] {
        let relation: Value = json!([{"type": kind, "target_id": yes}]);
        let text = format!("{NO} ({id})");
        let said = record(&field, message(id, "a"), &text, relation).await.unwrap();
        assert_eq!(said.conflicts_detected.len(), conflicts, "{kind}");
    }
}

#[tokio::test]
async fn nobody_learns_of_a_hidden_unit_by_a_conflict_a_count_or_a_status() {
    let field = open(&engine(), unhurried());
    for agent in ["a", "b"] {
        register(&field, agent).await.unwrap();
    }
    let inside = Message { session: Some("secret".to_owned()), ..message("in", "b") };
    let hidden = record(&field, inside, YES, json!([])).await.unwrap();
    let no = say(&field, "no", NO).await;
    assert!(no.conflicts_detected.is_empty(), "the author does not see the hidden unit");
    let (payload, _) = DetectPayload::parse(json!({"mode": "scan"})).unwrap();
    let scan = field.detect(message("s", "a"), payload).await.unwrap();
    let coverage = scan.scan_coverage;
    assert_eq!((coverage.units_scanned, coverage.new_conflicts_found), (1, 0));

    // Who speaks in the session sees both. The public unit is not contested for the hidden one's sake.
    let inside = Message { session: Some("secret".to_owned()), ..message("in-2", "b") };
    let text = "The payments service supports refunds in Europe already.";
    let found = record(&field, inside.clone(), text, json!([])).await.unwrap();
    assert_eq!(found.conflicts_detected.len(), 1);
    assert_eq!(status(&field, &no.memory_unit_id).await, UnitStatus::Active);
    assert_eq!(status(&field, &found.memory_unit_id).await, UnitStatus::Contested);
    assert!(listed(&field, message("l", "a")).await.is_empty());
    assert_eq!(listed(&field, Message { id: "l-2".to_owned(), ..inside }).await.len(), 1);
    assert_eq!(status(&field, &hidden.memory_unit_id).await, UnitStatus::Active);
}

/// Denies everything, confirms everything in words of its own, or does not answer.
#[derive(Debug)]
enum Scripted {
    Denies,
    Confirms,
    Fails,
}

impl Judge for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn judge(
        &self,
        _older: &Claim<'_>,
        _newer: &Claim<'_>,
        verdict: &Disagreement,
    ) -> Result<Opinion, JudgeError> {
        assert!(verdict.sureness >= 0.6);
        match self {
            Self::Denies => Ok(Opinion::Denied),
            Self::Confirms => Ok(Opinion::Confirmed(Some("They do.".to_owned()))),
            Self::Fails => Err(JudgeError { reason: "asleep".to_owned() }),
        }
    }
}

#[tokio::test]
async fn a_judge_is_asked_in_the_background_and_its_silence_changes_nothing() {
    for (judge, expected) in [
        (Scripted::Denies, None),
        (Scripted::Confirms, Some("They do.")),
        (Scripted::Fails, Some("one denies what the other affirms")),
    ] {
        let judge: Arc<dyn Judge> = Arc::new(judge);
        let field = open(&engine(), DetectionOptions { judge: Some(judge), ..unhurried() });
        register(&field, "a").await.unwrap();
        say(&field, "yes", YES).await;
        let no = say(&field, "no", NO).await;
        assert_eq!(no.conflict_detection, Some(ConflictDetection::Deferred));
        field.detection_settled().await.unwrap();
        let conflicts = listed(&field, message("l", "a")).await;
        let found = conflicts.first().map(|conflict| conflict.description.as_str());
        assert_eq!(found.is_some(), expected.is_some());
        assert!(
            found.is_none_or(|found| found.contains(expected.unwrap_or_default())),
            "{found:?}"
        );
    }
}
