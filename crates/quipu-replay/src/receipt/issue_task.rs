//! The receipt of a finished Task, whether it succeeded, failed or was canceled.

use quipu_wire::harn::{
    AutonomyBudget, Chain, Cost, Determinism, HarnVersion, Issuer, ModelRef, ModelRoute, Receipt,
    ReceiptSchema, ReplayInput, Subject, SubjectKind,
};

use super::{
    facts::{IssuerFacts, RunFacts, TaskFacts},
    materials::{event_log_material, recorded_material, secret_redaction},
    seal::{SealError, seal},
};
use crate::secrets::is_secret;

/// Makes and seals the receipt of a Task. Dependencies are put in the order of their keys, so that the bytes
/// do not depend on the order in which they come in.
///
/// # Errors
/// Where the facts have no canonical JSON.
pub fn issue_task(facts: TaskFacts) -> Result<Receipt, SealError> {
    let TaskFacts { run, lifecycle, mut dependencies, mut redactions, .. } = facts;
    dependencies.sort_by(|one, other| one.key.cmp(&other.key));
    let mut materials: Vec<_> =
        run.event_log.iter().chain(&run.own_log).map(event_log_material).collect();
    materials.extend(dependencies.iter().filter_map(recorded_material));
    let secrets = dependencies.iter().filter(|dependency| is_secret(dependency.kind));
    redactions.extend(secrets.map(|secret| secret_redaction(&secret.key, Some(secret.sha256))));
    let determinism = match facts.unavailable_reason {
        None => Determinism::ByteDeterministic,
        Some(_) => Determinism::Unavailable,
    };
    let unavailable_reason = facts.unavailable_reason;
    let replay_input = ReplayInput { determinism, materials, unavailable_reason };
    let subject = Subject { object: SubjectKind::Task, id: run.identifiers.task_id.clone() };
    seal(Receipt {
        schema: ReceiptSchema::Receipt20260425,
        receipt_id: run.receipt_id,
        subject,
        issuer: issuer(run.issuer),
        issued_at: lifecycle.completed_at.clone(),
        identifiers: run.identifiers,
        lifecycle,
        approvals: facts.approvals,
        trust: run.trust,
        autonomy_budget: AutonomyBudget { limit: facts.limit, consumed: facts.consumed },
        replay_input,
        model_route: run.model_route.unwrap_or_else(no_model),
        cost: facts.cost.unwrap_or_else(no_cost),
        side_effects: facts.side_effects,
        final_artifacts: run.final_artifacts,
        chain: Chain {
            previous_receipt_hash: run.previous_receipt_hash,
            receipt_hash: None,
            merkle_root: run.merkle_root,
        },
        deltas: None,
        redactions,
        signatures: Vec::new(),
        metadata: run.metadata,
    })
}

/// The issuer. Its version is the date of the receipt's format, whatever version the client negotiated.
pub(super) fn issuer(facts: IssuerFacts) -> Issuer {
    Issuer {
        id: facts.id,
        kind: facts.kind,
        name: facts.name,
        version: Some(HarnVersion::V20260425.as_str().to_owned()),
        public_key_id: facts.public_key_id,
    }
}

fn no_model() -> ModelRoute {
    let none = || "none".to_owned();
    ModelRoute {
        chosen_model: ModelRef { provider: none(), model: none(), version: None, reason: None },
        alternatives_considered: Vec::new(),
        route_policy_reason: "no model call was made".to_owned(),
    }
}

pub(super) fn no_cost() -> Cost {
    Cost { currency: "USD".to_owned(), total: 0.0, provider_breakdown: Vec::new() }
}

/// The route of a replay: the recorded answers stand for the model.
pub(super) fn replayed_route(run: &RunFacts) -> ModelRoute {
    let mut route = run.model_route.clone().unwrap_or_else(no_model);
    route.alternatives_considered.clear();
    if run.model_route.is_some() {
        route.route_policy_reason = "replayed from recorded provider response".to_owned();
    }
    route
}
