//! State is a pure function of the log: the live state, the state rebuilt from the log alone, and the
//! state from a snapshot and the tail behind it have one hash, whatever was done and on every engine.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    coordination::{coordinate, handoff, session},
    support::{message, open, open_traced, record, register},
};
use proptest::prelude::*;
use quipu_field::{
    Field,
    purge::tombstoned,
    snapshot::{
        format::{self, SnapshotDir, SnapshotError},
        restore::{catch_up, restore},
    },
    view::Published,
};
use quipu_log::{
    BodyAddress, BodyContent, Engine, FieldName, Head, MemoryEngine, Pace, SqliteEngine,
    SqliteOptions, verify_chain,
};
use quipu_wire::akashik::{
    AttunePayload, AttuneResponse, CompactPayload, ConflictStrategy, DeregisterPayload,
    MergePayload, MergeResolution, RetractIntent, RetractPayload,
};
use serde_json::{Value, json};

/// Something an agent does. Most of it is refused somewhere, which is part of the point.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Register(u8),
    Deregister(u8, u8),
    Record { agent: u8, message: u8, content: u8, relations: Vec<(u8, u8)> },
    Merge { agent: u8, conflict: u8, strategy: u8, second: bool },
    Retract(u8, u8),
    Purge(u8),
    Attune(u8),
    Jump(u8, u64),
    Session(u8, u8, u8),
    Task(u8, u8, u8),
    Handoff(u8, u8, u8),
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let relation = (0u8..9, 0u8..12);
    prop_oneof![
        2 => (0u8..4).prop_map(Step::Register),
        1 => (0u8..4, 0u8..4).prop_map(|(by, whom)| Step::Deregister(by, whom)),
        6 => (0u8..4, 0u8..60, 0u8..20, proptest::collection::vec(relation, 0..4)).prop_map(
            |(agent, message, content, relations)| Step::Record { agent, message, content, relations }
        ),
        4 => (0u8..4, 0u8..6, 0u8..7, any::<bool>()).prop_map(
            |(agent, conflict, strategy, second)| Step::Merge { agent, conflict, strategy, second }
        ),
        1 => (0u8..4, 0u8..12).prop_map(|(agent, unit)| Step::Retract(agent, unit)),
        1 => (0u8..4).prop_map(Step::Purge),
        2 => (0u8..4).prop_map(Step::Attune),
        2 => (0u8..4, 0u8..2, 0u8..7).prop_map(|(by, id, what)| Step::Session(by, id, what)),
        6 => (0u8..4, 0u8..4, 0u8..12).prop_map(|(by, id, what)| Step::Task(by, id, what)),
        2 => (0u8..4, 0u8..4, 0u8..4).prop_map(|(by, id, what)| Step::Handoff(by, id, what)),
        1 => (0u8..4, 0u64..1000).prop_map(|(agent, epoch)| Step::Jump(agent, epoch)),
    ]
}

const KINDS: [&str; 9] = [
    "supports",
    "contradicts",
    "depends_on",
    "supersedes",
    "caused_by",
    "elaborates",
    "answers",
    "blocks",
    "informs",
];

/// Does the steps in order and answers every answer as text, so that two runs can be compared.
pub(crate) async fn perform(field: &Arc<Field>, steps: &[Step]) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut conflicts: Vec<String> = Vec::new();
    let mut answers = Vec::new();
    let mut offers: Vec<String> = Vec::new();
    // Half of what is said is said in a session.
    let mut sent = 0;
    let mut fresh = |by: u8, id: u8| {
        sent += 1;
        let mut from = message(&format!("fresh-{sent}-{}", steps.len()), &name(by));
        from.session = id.is_multiple_of(2).then(|| "session-0".to_owned());
        from
    };
    for step in steps {
        let answer = match step {
            Step::Register(agent) => format!("{:?}", register(field, &name(*agent)).await),
            Step::Deregister(by, whom) => {
                let payload = DeregisterPayload { agent_id: name(*whom) };
                let from = message(&format!("deregister-{by}-{whom}"), &name(*by));
                format!("{:?}", field.deregister(from, payload).await)
            }
            Step::Record { agent, message: id, content, relations } => {
                let relations: Vec<_> = relations
                    .iter()
                    .map(|(kind, target)| {
                        let target = units.get(usize::from(*target)).cloned();
                        let target = target.unwrap_or_else(|| "mem-unknown".to_owned());
                        json!({"type": KINDS[usize::from(*kind)], "target_id": target})
                    })
                    .collect();
                let from = message(&format!("record-{id}"), &name(*agent));
                let text = format!("content {content} of the ships");
                let answer = record(field, from, &text, json!(relations)).await;
                units.extend(answer.iter().map(|accepted| accepted.memory_unit_id.clone()));
                conflicts.extend(answer.iter().flat_map(|a| a.conflicts_detected.clone()));
                format!("{answer:?}")
            }
            Step::Merge { agent, conflict, strategy, second } => {
                let conflict = conflicts.get(usize::from(*conflict)).cloned();
                merge(field, *agent, conflict, *strategy, *second).await
            }
            Step::Retract(agent, unit) => {
                retract(field, *agent, *unit, units.get(usize::from(*unit)).cloned()).await
            }
            Step::Purge(which) => purge(field, *which).await,
            Step::Attune(agent) => look(field, *agent).await,
            Step::Jump(agent, epoch) => {
                let mut from = message(&format!("jump-{epoch}"), &name(*agent));
                from.epoch = *epoch;
                format!("{:?}", record(field, from, "a jump", json!([])).await)
            }
            Step::Session(by, id, what) => {
                let payload = session_payload(*id, *what);
                format!("{:?}", session(field, fresh(*by, *id), payload).await)
            }
            Step::Task(by, id, what) => {
                let payload = task_payload(*by, *id, *what);
                format!("{:?}", coordinate(field, fresh(*by, *id), payload).await)
            }
            Step::Handoff(by, to, what) => {
                let payload = handoff_payload(*to, *what, offers.last());
                let answer = handoff(field, fresh(*by, *to), payload).await;
                let made = answer.iter().filter_map(|answer| answer.handoff.as_ref());
                offers.extend(made.map(|handoff| handoff.id.clone()));
                format!("{answer:?}")
            }
        };
        answers.push(answer);
    }
    answers
}

/// Withdraws a unit, or tries to.
async fn retract(field: &Arc<Field>, agent: u8, unit: u8, unit_id: Option<String>) -> String {
    let payload = RetractPayload {
        unit_id: unit_id.unwrap_or_else(|| "mem-unknown".to_owned()),
        intent: RetractIntent { purpose: "to test".to_owned() },
    };
    let from = message(&format!("retract-{unit}"), &name(agent));
    format!("{:?}", field.retract(from, payload).await)
}

/// Purges units of one status, or everything of an age.
async fn purge(field: &Arc<Field>, which: u8) -> String {
    let status = ["superseded", "retracted", "contested"].get(usize::from(which));
    let filter = match status {
        Some(status) => json!({"status": [status]}),
        None => json!({"max_age_epochs": 8}),
    };
    let payload = json!({"strategy": "purge", "filter": filter});
    let (payload, _) = CompactPayload::parse(payload).unwrap();
    let from = message(&format!("purge-{}", field.head().position), &name(0));
    format!("{:?}", field.compact(from, payload).await)
}

/// Asks for context, and answers at which epoch.
async fn look(field: &Arc<Field>, agent: u8) -> String {
    let asked = json!({"scope": {"role": "tester", "max_units": 5}, "context_hint": "ships"});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("look", &name(agent)), payload).await;
    format!("{:?}", answer.map(|answer| answer.epoch))
}

/// Settles a conflict, or tries to. The vote's ballot is for the older or the newer unit.
async fn merge(
    field: &Arc<Field>,
    agent: u8,
    conflict: Option<String>,
    strategy: u8,
    second: bool,
) -> String {
    let strategy = ConflictStrategy::ALL[usize::from(strategy)];
    let conflict_id = conflict.unwrap_or_else(|| "conflict-unknown".to_owned());
    let open = field.conflicts().await.unwrap().conflicts;
    let about = open.iter().find(|open| open.id == conflict_id);
    let ballot = about.map(|open| if second { open.unit_b.clone() } else { open.unit_a.clone() });
    let payload = MergePayload {
        strategy,
        resolution: MergeResolution {
            winner_id: ballot.filter(|_| strategy == ConflictStrategy::Vote || second),
            synthesis: (strategy == ConflictStrategy::Synthesis).then(|| "both".to_owned()),
            rationale: "to test".to_owned(),
        },
        conflict_id,
        quorum: None,
        dry_run: false,
    };
    let id = format!("merge-{}-{strategy}-{second}", payload.conflict_id);
    format!("{:?}", field.merge(message(&id, &name(agent)), payload).await)
}

pub(crate) fn session_payload(id: u8, what: u8) -> Value {
    let actions = ["create", "join", "leave", "pause", "resume", "end", "set_policy"];
    let rules = json!([{"role": "role of agent-1", "deny_types": ["finding"]}]);
    json!({
        "action": actions[usize::from(what)], "session_id": format!("session-{id}"),
        "session": {"goal": "g", "policy": {"visibility_rules": rules}},
    })
}

pub(crate) fn task_payload(by: u8, id: u8, what: u8) -> Value {
    let actions = [
        "create", "assign", "claim", "start", "block", "unblock", "complete", "fail", "release",
        "retry", "cancel", "renew",
    ];
    let id = format!("task-{id}");
    json!({
        "action": actions[usize::from(what)], "task_id": id, "lease_ms": 40,
        "assignee": name(by), "reason": "r",
        "task": {"id": id, "title": "t", "intent": {"purpose": "p"}},
    })
}

pub(crate) fn handoff_payload(to: u8, what: u8, last: Option<&String>) -> Value {
    let actions = ["offer", "accept", "reject", "cancel"];
    if what > 0 && last.is_none() {
        return json!({"action": "list"});
    }
    json!({
        "action": actions[usize::from(what)], "task_id": format!("task-{to}"),
        "to_agent": name(to), "reason": "r", "handoff_id": last,
    })
}

pub(crate) fn name(agent: u8) -> String {
    format!("agent-{agent}")
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

pub(crate) fn rebuilt(engine: &Arc<dyn Engine>) -> Published {
    let name = FieldName::default_field();
    restore(engine.as_ref(), &name, None, Pace::Alone, &mut |_| true).unwrap().published
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn live_rebuilt_and_snapshot_plus_tail_agree(
        before in proptest::collection::vec(step(), 0..40),
        after in proptest::collection::vec(step(), 0..40),
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let folder = tempfile::tempdir().unwrap();
            let field = open_traced(&engine);
            perform(&field, &before).await;
            let saved = SnapshotDir::new(folder.path().to_owned()).save(&rebuilt(&engine)).unwrap();
            perform(&field, &after).await;

            let whole = rebuilt(&engine);
            prop_assert_eq!(field.state_hash(), whole.state.hash());
            prop_assert_eq!(field.head(), whole.head);

            let mut from_snapshot = format::load(&saved).unwrap();
            catch_up(engine.as_ref(), &FieldName::default_field(), &mut from_snapshot, Pace::Alone, &mut |_| true)
                .unwrap();
            prop_assert_eq!(from_snapshot.state.hash(), whole.state.hash());
            // It is in no hash, because it follows from the rest.
            prop_assert_eq!(from_snapshot.state.replacers, whole.state.replacers);
            Ok(())
        })?;
    }

    #[test]
    fn every_engine_gives_the_same_answers_positions_and_hashes(
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        runtime().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let sqlite = SqliteEngine::open(folder.path(), SqliteOptions::default()).unwrap();
            let engines: [Arc<dyn Engine>; 2] = [Arc::new(MemoryEngine::new()), Arc::new(sqlite)];
            let mut seen = Vec::new();
            for engine in &engines {
                let field = open(engine, None);
                let answers = perform(&field, &steps).await;
                seen.push((answers, field.head(), field.state_hash()));
            }
            prop_assert_eq!(&seen[0], &seen[1]);
            Ok(())
        })?;
    }

    #[test]
    fn what_is_erased_is_exactly_what_the_tombstones_of_the_state_name(
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let field = open_traced(&engine);
            register(&field, &name(0)).await.unwrap();
            perform(&field, &steps).await;
            let log = engine.read(&FieldName::default_field(), 1, usize::MAX).unwrap();
            let erased: BTreeSet<BodyAddress> = log
                .iter()
                .flat_map(|commit| commit.bodies.iter().map(|body| (commit.position, body)))
                .filter(|(_, body)| body.content == BodyContent::Erased)
                .map(|(position, body)| BodyAddress { position, event: body.event })
                .collect();
            prop_assert_eq!(erased, tombstoned(&rebuilt(&engine).state));
            Ok(())
        })?;
    }

    #[test]
    fn the_chain_holds_for_any_sequence_of_operations(
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let field = open(&engine, None);
            perform(&field, &steps).await;
            let head = field.head();
            if head != Head::EMPTY {
                let name = FieldName::default_field();
                let reached = verify_chain(engine.as_ref(), &name, Head::EMPTY, &mut |_| Ok(()));
                prop_assert_eq!(reached.unwrap(), head);
            }
            Ok(())
        })?;
    }
}

/// ATTUNE of everything, one's own units included.
async fn attune_all(field: &Arc<Field>, agent: &str) -> AttuneResponse {
    let scope = json!({"role": "tester", "max_units": 1000, "include_own": true, "explain": true});
    let (payload, _) =
        AttunePayload::parse(json!({"scope": scope, "context_hint": "ships at sea"})).unwrap();
    field.attune(message("attune", agent), payload).await.unwrap()
}

#[tokio::test]
async fn an_answer_is_the_same_after_closing_and_opening_with_and_without_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let engine: Arc<dyn Engine> = Arc::new(
        SqliteEngine::open(&folder.path().join("data"), SqliteOptions::default()).unwrap(),
    );
    let snapshots = folder.path().join("snapshots");
    let field = open(&engine, Some(snapshots.clone()));
    register(&field, "a").await.unwrap();
    for number in 0..30 {
        let text = format!("ship {number} is at sea");
        record(&field, message(&format!("m{number}"), "a"), &text, json!([])).await.unwrap();
    }
    let mut before = attune_all(&field, "a").await;
    SnapshotDir::new(snapshots.clone()).save(&rebuilt(&engine)).unwrap();
    field.close().await;

    for with_snapshot in [true, false] {
        if !with_snapshot {
            std::fs::remove_dir_all(&snapshots).unwrap();
        }
        let field = open(&engine, Some(snapshots.clone()));
        let mut after = attune_all(&field, "a").await;
        assert!(after.epoch > before.epoch, "the clock went back");
        before.epoch = 0;
        (after.epoch, before.epoch) = (0, before.epoch);
        assert_eq!(before, after);
        field.close().await;
    }
}

#[tokio::test]
async fn a_damaged_or_foreign_snapshot_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    register(&field, "a").await.unwrap();
    record(&field, message("m", "a"), "a ship", json!([])).await.unwrap();
    let saved = SnapshotDir::new(folder.path().to_owned()).save(&rebuilt(&engine)).unwrap();

    let whole = std::fs::read(&saved).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&saved, &bytes).unwrap();
        let again = open(&engine, Some(folder.path().to_owned()));
        assert_eq!(again.state_hash(), field.state_hash(), "byte {at}");
    }
    std::fs::write(&saved, &whole).unwrap();
    let other: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let elsewhere = open(&other, Some(folder.path().to_owned()));
    assert_eq!(elsewhere.head(), Head::EMPTY);
}

#[test]
fn a_snapshot_of_an_earlier_version_is_told_from_a_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        format::load(&path).unwrap_err()
    };
    for version in [1, 2, 3, 4, 5, 6] {
        let bytes = format!("quipu-snapshot {version}\nwhatever it held");
        let older = write("1.snap", bytes.as_bytes());
        assert!(matches!(older, SnapshotError::Older { .. }), "{older}");
    }
    let damaged = write("2.snap", b"quipu-snapshot 7\nwhatever it held");
    assert!(matches!(damaged, SnapshotError::Damaged { .. }), "{damaged}");
}
