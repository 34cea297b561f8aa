//! COMPACT with strategy purge: the text is gone from everywhere, the tombstone stays, and a process that
//! dies in between changes nothing about that.

use std::{path::Path, sync::Arc};

use crate::{
    compact::{attune, compact},
    coordination::handoff,
    support::{message, open_across, record, register},
};
use quipu_field::{Field, purge::tombstoned, restore::restore, snapshot::format::SnapshotDir};
use quipu_log::{
    BodyAddress, Engine, EngineError, Erasure, FieldName, Head, MemoryEngine, Pace, SqliteEngine,
    SqliteOptions, conformance::Altered, verify_chain,
};
use quipu_wire::{
    ErrorCode,
    akashik::{DetectPayload, MergePayload, RetractIntent, RetractPayload},
};
use serde_json::{Value, json};

/// An engine whose process dies before it erases.
#[derive(Debug)]
struct Dying(Arc<dyn Engine>);

impl Altered for Dying {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.0)
    }

    fn erase(&self, _: &FieldName, _: &[BodyAddress]) -> Result<Erasure, EngineError> {
        Err(EngineError::Poisoned { reason: "killed".to_owned() })
    }
}

/// Whether any file below a directory holds these bytes.
fn is_found(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_found(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}

fn sqlite(dir: &Path) -> Arc<dyn Engine> {
    Arc::new(SqliteEngine::open(dir, SqliteOptions::default()).unwrap())
}

fn save_snapshot(engine: &Arc<dyn Engine>, dir: &Path) {
    let name = FieldName::default_field();
    let published =
        restore(engine.as_ref(), &name, None, Pace::Alone, &mut |_| true).unwrap().published;
    SnapshotDir::new(dir.to_owned()).save(&published).unwrap();
}

fn purge_session() -> Value {
    json!({"strategy": "purge", "filter": {"session_id": "s"}, "reason": "asked to forget"})
}

/// Two units, one of them in session s with a secret, and a conflict that repeats the secret.
async fn fill(field: &quipu_field::Field) -> String {
    register(field, "a").await.unwrap();
    let kept = record(field, message("1", "a"), "a harmless ship", json!([])).await.unwrap();
    let against = json!([{"type": "contradicts", "target_id": kept.memory_unit_id,
                          "description": "the xylophone says no"}]);
    let mut secret = message("2", "a");
    secret.session = Some("s".to_owned());
    record(field, secret, "Ada plays the xylophone", against).await.unwrap().memory_unit_id
}

#[tokio::test]
async fn a_purged_text_is_in_no_file_and_the_chain_holds() {
    let folder = tempfile::tempdir().unwrap();
    let engine = sqlite(folder.path());
    let snapshots = folder.path().join("snapshots");
    let field = open_across(&engine, Some(snapshots.clone()));
    let purged = fill(&field).await;
    save_snapshot(&engine, &snapshots);
    std::fs::write(snapshots.join("00000000000000000009.part"), "xylophon").unwrap();
    assert!(is_found(folder.path(), "xylophon"));
    assert!(is_found(&snapshots, "xylophon"), "the snapshot's index has the stem");

    let answer = compact(&field, "c", purge_session()).await.unwrap();
    assert_eq!((answer.units_affected, answer.synthesis_units_created), (1, 0));
    let text = r#"Ada plays the xylophone"#.len() + "the xylophone says no".len();
    assert!(answer.storage_reclaimed_bytes.unwrap() > u64::try_from(text).unwrap());
    assert!(!is_found(folder.path(), "xylophon"));

    let shown = attune(&field, true).await;
    assert_eq!(shown.len(), 1, "a purged unit is not there, asked for or not");
    assert!(shown.iter().all(|unit| unit.id != purged));
    let (list, _) = DetectPayload::parse(json!({"mode": "list"})).unwrap();
    let conflicts = field.detect(message("d", "a"), list).await.unwrap().conflicts;
    assert_eq!(conflicts[0].description, "(erased)");

    field.close().await;
    assert!(!is_found(folder.path(), "xylophon"));
    let name = FieldName::default_field();
    verify_chain(engine.as_ref(), &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
    let rebuilt =
        restore(engine.as_ref(), &name, None, Pace::Alone, &mut |_| true).unwrap().published;
    assert!(!rebuilt.index.lexical().knows_term("xylophon"));
    assert_eq!(tombstoned(&rebuilt.state).len(), 2, "the unit's text and the conflict's");
}

/// Everything that can be said of a unit: a conflict, ballots, an escalation, a retraction, handoffs.
async fn say_everything_of_a_unit(field: &Arc<Field>) {
    let (a, b) = (message("x", "a"), |id: &str| message(id, "b"));
    register(field, "a").await.unwrap();
    register(field, "b").await.unwrap();
    let unit = record(field, a, "Ada plays the xylophone", json!([])).await.unwrap().memory_unit_id;
    let against = json!([{"type": "contradicts", "target_id": unit,
                          "description": "no xylophone"}]);
    let other = record(field, b("1"), "Ada is a poet", against).await.unwrap();
    let conflict = &other.conflicts_detected[0];
    let settle = |strategy: &str, rationale: &str| {
        let resolution = json!({"winner_id": other.memory_unit_id, "rationale": rationale});
        let payload =
            json!({"conflict_id": conflict, "strategy": strategy, "resolution": resolution});
        MergePayload::parse(payload).unwrap().0
    };
    field.merge(b("2"), settle("vote", "xylophone ballot")).await.unwrap();
    field.merge(b("3"), settle("human_escalation", "xylophone to a human")).await.unwrap();
    field.merge(b("4"), settle("human_escalation", "xylophone settled")).await.unwrap();
    let offer = json!({"action": "offer", "task_id": "t", "to_agent": "b", "reason": "xylophone",
                       "context": {"summary": "the xylophone case", "memory_unit_ids": [unit]}});
    let offer = handoff(field, message("5", "a"), offer).await.unwrap().handoff.unwrap();
    let reject = json!({"action": "reject", "handoff_id": offer.id, "reason": "hates xylophones"});
    handoff(field, b("6"), reject).await.unwrap();
    let third = record(field, message("7", "a"), "one more", json!([])).await.unwrap();
    let intent = RetractIntent { purpose: "the xylophone was a harp".to_owned() };
    let unit_id = third.memory_unit_id;
    field.retract(message("8", "a"), RetractPayload { unit_id, intent }).await.unwrap();
}

#[tokio::test]
async fn everything_that_was_said_of_a_purged_unit_goes_with_it() {
    for dies in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let engine = sqlite(folder.path());
        let dying: Arc<dyn Engine> = Arc::new(Dying(Arc::clone(&engine)));
        let field = open_across(if dies { &dying } else { &engine }, None);
        say_everything_of_a_unit(&field).await;
        let purge = json!({"strategy": "purge", "filter": {"types": ["finding"]}});
        let answer = compact(&field, "c", purge).await;
        assert_eq!((answer.is_ok(), is_found(folder.path(), "xylophon")), (!dies, dies));
        if dies {
            drop(field);
            open_across(&engine, None).close().await;
        }
        assert!(!is_found(folder.path(), "xylophon"));
        let name = FieldName::default_field();
        verify_chain(engine.as_ref(), &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
    }
}

#[tokio::test]
async fn what_is_said_after_a_purge_by_who_cannot_have_read_it_stays() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    fill(&field).await;
    compact(&field, "c", purge_session()).await.unwrap();
    let conflict = field.conflicts().await.unwrap().conflicts[0].id.clone();
    let payload = json!({"conflict_id": conflict, "strategy": "human_escalation",
                         "resolution": {"rationale": "one side is gone"}});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    field.merge(message("m", "a"), payload).await.unwrap();
    field.close().await;
    let again = open_across(&engine, None);
    let resolution = again.conflicts().await.unwrap().conflicts[0].resolution.clone();
    assert_eq!(resolution.unwrap().rationale, "one side is gone");
}

#[tokio::test]
async fn a_purge_that_was_cut_off_is_finished_at_the_next_opening() {
    let folder = tempfile::tempdir().unwrap();
    let engine = sqlite(folder.path());
    let snapshots = folder.path().join("snapshots");
    let field = open_across(&engine, None);
    fill(&field).await;
    save_snapshot(&engine, &snapshots);
    field.close().await;

    let dying: Arc<dyn Engine> = Arc::new(Dying(Arc::clone(&engine)));
    let field = open_across(&dying, Some(snapshots.clone()));
    let answer = compact(&field, "c", purge_session()).await;
    assert_eq!(answer, Err(ErrorCode::FieldUnavailable));
    assert_eq!(attune(&field, true).await.len(), 1, "out of sight all the same");
    assert!(is_found(folder.path(), "xylophon"));
    drop(field);

    let field = open_across(&engine, Some(snapshots.clone()));
    assert!(!is_found(folder.path(), "xylophon"));
    assert_eq!(attune(&field, true).await.len(), 1);
    let again = compact(&field, "c", purge_session()).await.unwrap();
    assert_eq!((again.units_affected, again.storage_reclaimed_bytes), (1, Some(0)));
}

#[tokio::test]
async fn the_state_is_the_same_with_and_without_the_erased_texts() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let folder = tempfile::tempdir().unwrap();
    let field = open_across(&engine, None);
    fill(&field).await;
    save_snapshot(&engine, folder.path());
    compact(&field, "c", purge_session()).await.unwrap();
    let name = FieldName::default_field();
    let from_snapshot = SnapshotDir::new(folder.path().to_owned());
    for snapshots in [None, Some(&from_snapshot)] {
        let restored =
            restore(engine.as_ref(), &name, snapshots, Pace::Alone, &mut |_| true).unwrap();
        assert_eq!(restored.snapshot_position > 0, snapshots.is_some());
        assert_eq!(restored.published.state.hash(), field.state_hash());
        assert!(!restored.published.index.lexical().knows_term("xylophon"));
        assert!(restored.published.index.lexical().knows_term("ship"));
    }
}

#[tokio::test]
async fn archived_units_can_be_purged_and_purged_ones_only_once() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    fill(&field).await;
    let filter = json!({"session_id": "s"});
    compact(&field, "c1", json!({"strategy": "archive", "filter": filter})).await.unwrap();
    assert_eq!(compact(&field, "c2", purge_session()).await.unwrap().units_affected, 1);
    for strategy in ["purge", "archive", "summarize"] {
        let payload = json!({"strategy": strategy, "filter": filter});
        assert_eq!(compact(&field, strategy, payload).await.unwrap().units_affected, 0);
    }
}

#[tokio::test]
async fn a_purge_warns_of_summaries_that_repeat_what_was_purged() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    fill(&field).await;
    for id in ["more-1", "more-2", "more-3"] {
        let mut more = message(id, "a");
        more.session = Some("s".to_owned());
        let text = "the crew of the ship is paid in gold";
        record(&field, more, text, json!([])).await.unwrap();
    }
    let summarize = json!({"strategy": "summarize", "filter": {"session_id": "s", "status": ["active", "contested"]}});
    compact(&field, "c1", summarize).await.unwrap();
    let originals =
        json!({"strategy": "purge", "filter": {"session_id": "s", "types": ["finding"]}});
    let answer = compact(&field, "c2", originals).await.unwrap();
    assert_eq!(answer.units_affected, 4);
    assert!(answer.warnings[0].contains("may repeat their words: 1"), "{:?}", answer.warnings);
}
