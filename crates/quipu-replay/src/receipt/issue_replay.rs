//! The receipt of a replay. A function of the recording, the overrides and the configured identity alone, so
//! that whoever replays the same gets the same bytes.

use serde_json::Value;

use quipu_wire::harn::{
    AutonomyBudget, BudgetAmount, Chain, Determinism, JsonObject, Lifecycle, OutcomeStatus,
    Receipt, ReceiptSchema, ReplayInput, SideEffects, Subject, SubjectKind,
};

use super::{
    facts::ReplayFacts,
    issue_task::{issuer, no_cost, replayed_route},
    materials::{
        delta, departure_delta, event_log_material, secret_redaction, substituted_material,
    },
    seal::{SealError, seal},
};
use crate::{
    secrets::is_secret,
    task::{AppliedOverride, ReplayOutcome, ReplayPlan},
};

/// The time that stands where a recording has none: it failed before its first event.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// Makes and seals the receipt of a replay, also of one that failed.
///
/// # Errors
/// Where the facts have no canonical JSON.
pub fn issue_replay(
    facts: ReplayFacts,
    plan: &ReplayPlan,
    outcome: &ReplayOutcome,
) -> Result<Receipt, SealError> {
    let ReplayFacts { run, secrets, source_failure } = facts;
    let said =
        |applied: &AppliedOverride| plan.overrides.get(&applied.key)?.public_digest(&secrets);
    let mut materials: Vec<_> =
        run.event_log.iter().chain(&run.own_log).map(event_log_material).collect();
    materials.extend(outcome.applied.iter().filter_map(substituted_material));
    let substituted = outcome.applied.iter().map(|applied| delta(applied, said(applied)));
    let deltas = substituted.chain(outcome.departures.iter().map(departure_delta)).collect();
    let secret = outcome.applied.iter().filter(|applied| is_secret(applied.kind));
    let redactions = secret.map(|applied| secret_redaction(&applied.key, said(applied))).collect();
    let lifecycle = lifecycle(outcome, source_failure);
    let subject =
        Subject { object: SubjectKind::ReplaySegment, id: run.identifiers.task_id.clone() };
    seal(Receipt {
        schema: ReceiptSchema::Receipt20260425,
        receipt_id: run.receipt_id.clone(),
        subject,
        issuer: issuer(run.issuer.clone()),
        issued_at: lifecycle.completed_at.clone(),
        identifiers: run.identifiers.clone(),
        lifecycle,
        approvals: Vec::new(),
        trust: run.trust.clone(),
        autonomy_budget: AutonomyBudget { limit: None, consumed: nothing_spent() },
        replay_input: ReplayInput {
            determinism: match outcome.first_unavailable {
                Some(_) => Determinism::Unavailable,
                None if !outcome.departures.is_empty() => Determinism::BestEffort,
                None => Determinism::ByteDeterministic,
            },
            materials,
            unavailable_reason: outcome.first_unavailable.as_ref().map(ToString::to_string),
        },
        model_route: replayed_route(&run),
        cost: no_cost(),
        side_effects: SideEffects::default(),
        final_artifacts: run.final_artifacts,
        chain: Chain {
            previous_receipt_hash: run.previous_receipt_hash,
            receipt_hash: None,
            merkle_root: run.merkle_root,
        },
        deltas: Some(deltas),
        redactions,
        signatures: Vec::new(),
        metadata: metadata(run.metadata, outcome),
    })
}

fn lifecycle(outcome: &ReplayOutcome, source_failure: Option<JsonObject>) -> Lifecycle {
    let times = &outcome.lifecycle;
    let completed_at = times.completed_at.clone().unwrap_or_else(|| NO_TIME.to_owned());
    let created_at = times.created_at.clone().unwrap_or_else(|| completed_at.clone());
    let started_at = times.started_at.clone().unwrap_or_else(|| created_at.clone());
    let failure = outcome.first_unavailable.as_ref().map(|missing| {
        let failure = serde_json::to_value(missing.failure());
        match failure {
            Ok(Value::Object(map)) => JsonObject(map),
            _ => JsonObject::with("message", missing.to_string()),
        }
    });
    let final_state = match (&failure, times.final_state) {
        (Some(_), _) | (None, None) => OutcomeStatus::Failed,
        (None, Some(state)) => state,
    };
    let repeated = source_failure.filter(|_| final_state == OutcomeStatus::Failed);
    let failure = failure.or(repeated);
    Lifecycle { created_at: Some(created_at), started_at, completed_at, final_state, failure }
}

const fn nothing_spent() -> BudgetAmount {
    BudgetAmount {
        usd: Some(0.0),
        input_tokens: Some(0),
        output_tokens: Some(0),
        tool_calls: Some(0),
        wall_time_ms: Some(0),
    }
}

/// The caller's members and ours: what was replayed, how, and which questions were not the same.
fn metadata(mut metadata: JsonObject, outcome: &ReplayOutcome) -> JsonObject {
    metadata.insert("source_task_id".to_owned(), outcome.source_task_id.as_str().into());
    metadata.insert("replay_mode".to_owned(), outcome.mode.as_str().into());
    if let Some(boundary) = &outcome.boundary {
        metadata.insert("checkpoint_id".to_owned(), boundary.checkpoint_id.as_str().into());
    }
    if !outcome.request_drift.is_empty() {
        let drift = serde_json::to_value(&outcome.request_drift).unwrap_or_default();
        metadata.insert("request_drift".to_owned(), drift);
    }
    metadata
}
