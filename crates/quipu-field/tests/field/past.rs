//! ATTUNE as of an earlier epoch: what the agent would have been given then, of what it may see today.

use std::{path::PathBuf, sync::Arc};

use crate::{
    compact::compact,
    coordination::{add, from, session, team},
    state_from_log::{rebuilt, runtime},
    support::{message, open, open_across, record, register},
};
use proptest::prelude::*;
use quipu_core::Message;
use quipu_field::{Field, FieldError, snapshot::format::SnapshotDir};
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{AttunePayload, AttuneResponse, MergePayload, RegisterPayload, UnitView},
};
use serde_json::{Value, json};

async fn look(
    field: &Arc<Field>,
    from: Message,
    as_of: Option<u64>,
) -> Result<AttuneResponse, FieldError> {
    let mut scope = json!({"role": "r", "max_units": 100, "include_own": true, "explain": true});
    if let Some(epoch) = as_of {
        scope["as_of_epoch"] = json!(epoch);
    }
    let (payload, _) =
        AttunePayload::parse(json!({"scope": scope, "context_hint": "ships at sea"})).unwrap();
    field.attune(from, payload).await
}

fn contents(answer: &AttuneResponse) -> Vec<String> {
    let units = answer.record.iter().map(|ranked| match &ranked.memory_unit {
        UnitView::Unit(unit) => unit.content.clone(),
        UnitView::Id { id } => id.clone(),
    });
    let mut units: Vec<String> = units.collect();
    units.sort();
    units
}

/// The answer without the epochs that differ each time.
fn timeless(mut answer: AttuneResponse) -> AttuneResponse {
    (answer.epoch, answer.as_of_epoch) = (0, None);
    answer
}

#[tokio::test]
async fn the_past_is_shown_with_the_status_that_things_had_then() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let old = record(&field, message("1", "a"), "three ships", json!([])).await.unwrap();
    let supersedes = json!([{"type": "supersedes", "target_id": old.memory_unit_id}]);
    let new = record(&field, message("2", "a"), "four ships", supersedes).await.unwrap();
    let then = look(&field, message("x", "a"), Some(old.epoch)).await.unwrap();
    assert_eq!((contents(&then), then.as_of_epoch), (vec!["three ships".into()], Some(old.epoch)));
    assert!(then.epoch > new.epoch, "the clock is today's");
    let between = look(&field, message("x", "a"), Some(new.epoch)).await.unwrap();
    assert_eq!(contents(&between), ["four ships"]);
    let now = look(&field, message("x", "a"), None).await.unwrap();
    assert_eq!((contents(&now), now.as_of_epoch), (vec!["four ships".into()], None));
    let before = look(&field, message("x", "a"), Some(0)).await.unwrap();
    assert_eq!((contents(&before), before.as_of_epoch), (vec![], Some(0)));
}

#[tokio::test]
async fn an_epoch_of_the_future_is_refused_by_its_field_and_strangers_ask_in_vain() {
    let (_, field) = team(&[("a", "worker", 4), ("low", "worker", 1)]).await;
    let refused = look(&field, message("x", "a"), Some(1_000)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidPayload);
    assert!(
        refused.to_string().starts_with("payload.scope.as_of_epoch: 1000"),
        "{}",
        refused.to_string()
    );
    let stranger = look(&field, message("x", "nobody"), Some(1)).await.unwrap_err();
    assert_eq!(stranger.code(), ErrorCode::AgentNotRegistered);
    let low = look(&field, message("x", "low"), Some(1)).await.unwrap_err();
    assert_eq!(low.code(), ErrorCode::InsufficientAuthority);
}

async fn policy(field: &Arc<Field>, action: &str, policy: Value) {
    let payload = json!({"action": action, "session_id": "s",
                         "session": {"goal": "g", "policy": policy}});
    session(field, from("a", None), payload).await.unwrap();
}

#[tokio::test]
async fn only_what_was_seen_then_and_is_seen_today_is_shown() {
    let (_, field) = team(&[("a", "worker", 4), ("b", "worker", 4)]).await;
    policy(&field, "create", json!({})).await;
    add(&field, from("a", None), json!({"content": "free"})).await.unwrap();
    add(&field, from("a", Some("s")), json!({"content": "of s"})).await.unwrap();
    let outside = field.head().epoch;
    session(&field, from("b", None), json!({"action": "join", "session_id": "s"})).await.unwrap();
    let inside = field.head().epoch;
    let member = || from("b", Some("s"));
    assert_eq!(contents(&look(&field, member(), Some(outside)).await.unwrap()), ["free"]);
    assert_eq!(contents(&look(&field, member(), Some(inside)).await.unwrap()), ["free", "of s"]);
    let denied = json!({"visibility_rules": [{"role": "worker", "deny_types": ["finding"]}]});
    policy(&field, "set_policy", denied).await;
    let today = look(&field, member(), Some(inside)).await.unwrap();
    assert_eq!((contents(&today), today.context_budget.units_available), (vec!["free".into()], 1));
    session(&field, from("b", None), json!({"action": "leave", "session_id": "s"})).await.unwrap();
    let left = look(&field, member(), Some(inside)).await.unwrap_err();
    assert_eq!(left.code(), ErrorCode::InsufficientAuthority);
}

#[tokio::test]
async fn an_agent_that_came_later_sees_what_anybody_saw() {
    let (_, field) = team(&[("a", "worker", 4)]).await;
    add(&field, from("a", None), json!({"content": "free"})).await.unwrap();
    add(&field, from("a", Some("label")), json!({"content": "labelled"})).await.unwrap();
    let then = field.head().epoch;
    let (payload, _) = RegisterPayload::parse(json!({"id": "late", "role": "r"})).unwrap();
    field.register(message("late", "late"), payload).await.unwrap();
    let free = look(&field, from("late", None), Some(then)).await.unwrap();
    assert_eq!(contents(&free), ["free"]);
}

#[tokio::test]
async fn what_was_purged_since_is_not_in_the_past_either() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    register(&field, "a").await.unwrap();
    let mut secret = message("1", "a");
    secret.session = Some("s".to_owned());
    record(&field, secret, "Ada plays the xylophone", json!([])).await.unwrap();
    let kept = record(&field, message("2", "a"), "a ship", json!([])).await.unwrap();
    record(&field, message("3", "a"), "another ship", json!([])).await.unwrap();
    let before = look(&field, message("x", "a"), Some(kept.epoch)).await.unwrap();
    assert_eq!(contents(&before).len(), 2);
    let purge = json!({"strategy": "purge", "filter": {"session_id": "s"}});
    compact(&field, "c", purge).await.unwrap();
    let after = look(&field, message("x", "a"), Some(kept.epoch)).await.unwrap();
    assert_eq!(contents(&after), ["a ship"]);
    assert_eq!(after.context_budget.units_available, 1);
}

#[tokio::test]
async fn conflicts_are_shown_as_they_stood() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    let old = record(&field, message("1", "a"), "3 ships", json!([])).await.unwrap();
    let against = json!([{"type": "contradicts", "target_id": old.memory_unit_id}]);
    let new = record(&field, message("2", "a"), "4 ships", against).await.unwrap();
    let payload = json!({"conflict_id": new.conflicts_detected[0], "strategy": "last_write_wins",
                         "resolution": {"rationale": "newer"}});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    field.merge(message("m", "a"), payload).await.unwrap();
    assert_eq!(look(&field, message("x", "a"), None).await.unwrap().conflicts.len(), 0);
    let then = look(&field, message("x", "a"), Some(new.epoch)).await.unwrap();
    assert_eq!(then.conflicts.len(), 1);
    assert_eq!(then.conflicts[0].resolution, None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever is asked about the past, in whatever order, is what was answered then: from the log alone,
    /// from a snapshot, and from views that are kept.
    #[test]
    fn an_answer_about_the_past_is_the_answer_of_then(
        superseded in proptest::collection::vec(0usize..8, 1..14),
        asked in proptest::collection::vec(0usize..14, 1..12),
        snapshot_at in 0usize..14,
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let folder = tempfile::tempdir().unwrap();
            let snapshots: PathBuf = folder.path().to_owned();
            let field = open(&engine, Some(snapshots.clone()));
            register(&field, "a").await.unwrap();
            let (mut units, mut answers) = (Vec::<String>::new(), Vec::new());
            for (at, target) in superseded.iter().enumerate() {
                let relations = units.get(*target);
                let relations = relations.map(|id| json!({"type": "supersedes", "target_id": id}));
                let relations: Vec<Value> = relations.into_iter().collect();
                let said = format!("ship {at} is at sea");
                let from = message(&format!("m{at}"), "a");
                let unit = record(&field, from, &said, json!(relations)).await.unwrap();
                units.push(unit.memory_unit_id);
                let answer = look(&field, message("x", "a"), None).await.unwrap();
                answers.push((unit.epoch, timeless(answer)));
                if at == snapshot_at {
                    SnapshotDir::new(snapshots.clone()).save(&rebuilt(&engine)).unwrap();
                }
            }
            for at in asked {
                let Some((epoch, answer)) = answers.get(at) else { continue };
                let again = look(&field, message("x", "a"), Some(*epoch)).await.unwrap();
                prop_assert_eq!(again.as_of_epoch, Some(*epoch));
                prop_assert_eq!(&timeless(again), answer);
            }
            Ok(())
        })?;
    }
}
