//! What receipts say, and what they never say.

use proptest::prelude::*;
use serde_json::json;

use quipu_wire::harn::{DependencyKind, Determinism, OutcomeStatus, ReplayMode, Visibility};

use super::facts::{as_json, assert_valid, dependency, run, task};
use crate::{
    receipt::*,
    task::{
        AppliedOverride, Boundary, PlannedOverride, RecordedLifecycle, ReplayIdentity,
        ReplayOutcome, ReplayPlan, Substitute, Unavailable, UnavailableKind,
    },
};

#[test]
fn every_end_of_a_task_has_a_receipt_that_holds() {
    for state in OutcomeStatus::ALL {
        let receipt = issue_task(task(*state)).unwrap();
        assert_valid(&receipt);
        assert_eq!(receipt.lifecycle.final_state, *state);
        assert_eq!(receipt.issued_at, receipt.lifecycle.completed_at);
    }
}

#[test]
fn materials_are_the_log_and_then_answers_by_key_and_secrets_are_redacted() {
    let receipt = issue_task(task(OutcomeStatus::Succeeded)).unwrap();
    let ids: Vec<_> =
        receipt.replay_input.materials.iter().map(|it| it.id.clone().unwrap()).collect();
    assert_eq!(ids, ["event_log", "llm:main:1", "mcp:github:7"]);
    assert_eq!(receipt.redactions[0].field, "/replay_input/materials/secret:token");
    let json = as_json(&receipt);
    assert!(json.get("approvals").is_none() && json.get("deltas").is_none(), "{json}");
    assert_eq!(json["lifecycle"]["failure"], json!(null));
}

fn planned(kind: DependencyKind, value: serde_json::Value) -> PlannedOverride {
    let sha256 = quipu_wire::harn::Sha256::of_json(&value).unwrap();
    let substitute = Substitute::Value(value);
    PlannedOverride { kind, substitute, sha256, visibility: Visibility::ReceiptOnly, reason: None }
}

fn replay_of(plan: &ReplayPlan, missing: Option<Unavailable>) -> ReplayOutcome {
    let applied = plan.overrides.iter().map(|(key, planned)| AppliedOverride {
        key: key.clone(),
        kind: planned.kind,
        event_id: "event_7".to_owned(),
        operation: quipu_wire::harn::DeltaOperation::Replace,
        before: Some(super::facts::digest('3')),
        after: planned.sha256,
        artifact_id: None,
        visibility: planned.visibility,
        reason: Some("what if".to_owned()),
    });
    let at = |second: u8| Some(format!("2026-05-01T08:00:0{second}Z"));
    ReplayOutcome {
        source_task_id: plan.identity.source_task_id.clone(),
        replay_task_id: plan.identity.replay_task_id.clone(),
        mode: plan.mode,
        boundary: plan.boundary.clone(),
        events: 9,
        event_log_sha256: super::facts::digest('1'),
        applied: applied.collect(),
        lifecycle: RecordedLifecycle {
            created_at: at(0),
            started_at: at(1),
            completed_at: at(9),
            final_state: Some(OutcomeStatus::Succeeded),
        },
        request_drift: Vec::new(),
        departures: Vec::new(),
        first_unavailable: missing,
    }
}

#[test]
fn a_substituted_secret_is_in_no_receipt_not_even_as_a_plain_hash() {
    let mut plan = ReplayPlan::exact(ReplayIdentity::of("task_1"));
    plan.mode = ReplayMode::WithOverrides;
    let secret = planned(DependencyKind::SecretValue, json!("1234"));
    let plain = secret.sha256.bare();
    plan.overrides.insert("secret:pin".to_owned(), secret);
    let outcome = replay_of(&plan, None);
    for secrets in [SecretHashing::Omit, SecretHashing::Keyed([9; 32])] {
        let keyed = secrets != SecretHashing::Omit;
        let facts = ReplayFacts {
            run: run("receipt_replay_1", "task_replay_1"),
            secrets,
            source_failure: None,
        };
        let receipt = issue_replay(facts, &plan, &outcome).unwrap();
        assert_valid(&receipt);
        let text = String::from_utf8(canonical_bytes(&receipt).unwrap()).unwrap();
        assert!(!text.contains("1234") && !text.contains(&plain), "{text}");
        let delta = &receipt.deltas.as_ref().unwrap()[0];
        assert_eq!(delta.after_sha256.is_some(), keyed);
        assert_eq!(receipt.redactions.len(), 1);
        assert_eq!(receipt.replay_input.materials.len(), 1, "the log alone");
    }
}

#[test]
fn a_failed_replay_has_a_receipt_that_names_the_first_missing_thing() {
    let mut plan = ReplayPlan::exact(ReplayIdentity::of("task_1"));
    plan.mode = ReplayMode::FromCheckpoint;
    let (checkpoint_id, event_id) = ("artifact_mid".to_owned(), "event_4".to_owned());
    plan.boundary = Some(Boundary { checkpoint_id, event_id, sequence: 4 });
    let missing = Unavailable {
        kind: UnavailableKind::Memory,
        id: "mem-1".to_owned(),
        override_key: None,
        event_id: Some("event_7".to_owned()),
        sequence: Some(7),
        reason: "it was purged".to_owned(),
    };
    let facts = ReplayFacts {
        run: run("receipt_replay_1", "task_replay_1"),
        secrets: SecretHashing::Omit,
        source_failure: None,
    };
    let receipt = issue_replay(facts, &plan, &replay_of(&plan, Some(missing))).unwrap();
    assert_valid(&receipt);
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert_eq!(receipt.replay_input.determinism, Determinism::Unavailable);
    let failure = receipt.lifecycle.failure.unwrap();
    assert_eq!(failure["details"]["first_unavailable"]["id"], "mem-1");
    assert_eq!(receipt.metadata["checkpoint_id"], "artifact_mid");
}

proptest! {
    #[test]
    fn the_bytes_do_not_depend_on_the_order_of_dependencies(
        numbers in prop::collection::btree_set(0..500_u32, 0..20).prop_map(Vec::from_iter).prop_shuffle(),
    ) {
        let with = |numbers: &[u32]| {
            let mut facts = task(OutcomeStatus::Succeeded);
            let kind = DependencyKind::LlmProviderResponse;
            facts.dependencies = numbers.iter().map(|n| dependency(&format!("llm:main:{n}"), kind)).collect();
            canonical_bytes(&issue_task(facts).unwrap()).unwrap()
        };
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        prop_assert_eq!(with(&numbers), with(&sorted));
    }
}

#[test]
fn a_replay_of_a_failed_task_repeats_why_it_failed() {
    let plan = ReplayPlan::exact(ReplayIdentity::of("task_1"));
    let mut outcome = replay_of(&plan, None);
    outcome.lifecycle.final_state = Some(OutcomeStatus::Failed);
    let why = quipu_wire::harn::JsonObject::with("code", "tool_broke");
    let facts = ReplayFacts {
        run: run("receipt_replay_1", "task_replay_1"),
        secrets: SecretHashing::Omit,
        source_failure: Some(why.clone()),
    };
    let receipt = issue_replay(facts, &plan, &outcome).unwrap();
    assert_valid(&receipt);
    assert_eq!(receipt.lifecycle.failure, Some(why));
}
