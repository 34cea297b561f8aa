//! The receipt of an ending: the story, the profile and the Outcome as the facts that it is made from.

use quipu_replay::receipt::{EventLogFact, RunFacts, SealError, TaskFacts, issue_task};
use quipu_wire::{
    harn::{
        Artifact, FinalArtifact, HarnError, JsonObject, Lifecycle, Outcome, OutcomeStatus, Receipt,
        Sha256,
    },
    json::timestamp::rfc3339,
};
use serde_json::Value;

use super::{bound::BoundLog, outcome::status, profile::Profile, story::Story};
use crate::{
    Harness, HarnessOptions,
    handle::failure::internal_error,
    stored::named_after::{event_log_artifact, event_log_name},
};

/// Where the content of an Artifact is, as receipts write it.
pub(crate) fn artifact_uri(id: &str) -> String {
    format!("artifact://{id}")
}

/// An event log that binds its run, as a material.
pub(super) fn event_log_fact(task: &str, receipt: &str, sha256: Sha256) -> EventLogFact {
    let id = event_log_name(Some(receipt), task);
    EventLogFact { uri: artifact_uri(&event_log_artifact(&id)), id, sha256, binds: true }
}

impl Harness {
    /// Makes, seals and signs the receipt of an ending.
    pub(super) fn issue(
        &self,
        log: &BoundLog,
        story: Story,
        profile: &Profile,
        outcome: &Outcome,
        previous: Option<Sha256>,
    ) -> Result<Receipt, HarnError> {
        let mut facts = facts(&self.options, log, story, profile, outcome, previous);
        for approval in &mut facts.approvals {
            self.describe_approval(approval)?;
        }
        let mut receipt =
            issue_task(facts).map_err(|error: SealError| internal_error(error.to_string()))?;
        let hash = receipt.chain.receipt_hash;
        if let (Some(signer), Some(hash)) = (&self.options.signer, hash) {
            let signed_at = Some(receipt.issued_at.clone());
            receipt.signatures.push(signer.sign(&hash, signed_at));
        }
        Ok(receipt)
    }
}

fn facts(
    options: &HarnessOptions,
    log: &BoundLog,
    story: Story,
    profile: &Profile,
    outcome: &Outcome,
    previous: Option<Sha256>,
) -> TaskFacts {
    let lifecycle = lifecycle(&story, outcome);
    let started = story.entry.started_ms.unwrap_or(story.entry.created_ms);
    let consumed = story.spending.consumed(story.ending.at_ms.saturating_sub(started));
    let (model_route, cost) = (story.spending.route(), story.spending.cost());
    let mut redactions = profile.redactions.clone();
    redactions.extend(story.redactions);
    let (side_effects, approvals) = story.effects.finish(&story.task);
    let worker = story.entry.assigned_to.map(|agent| JsonObject::with("agent_id", agent));
    let mut metadata = worker.unwrap_or_default();
    if story.imported {
        // Nobody here saw it happen.
        metadata.insert("imported".to_owned(), true.into());
    }
    TaskFacts {
        run: RunFacts {
            receipt_id: log.receipt_id.clone(),
            issuer: options.issuer_facts(),
            identifiers: profile.identifiers.clone(),
            trust: profile.trust.clone(),
            model_route,
            event_log: Some(log.fact.clone()),
            own_log: None,
            final_artifacts: outcome.artifacts.iter().map(final_artifact).collect(),
            previous_receipt_hash: previous,
            merkle_root: None,
            metadata,
        },
        lifecycle,
        approvals,
        limit: None,
        consumed,
        dependencies: story.dependencies,
        unavailable_reason: story.erased.map(|key| format!("the answer under {key} was erased")),
        cost,
        side_effects,
        redactions,
    }
}

fn lifecycle(story: &Story, outcome: &Outcome) -> Lifecycle {
    let created = story.entry.created_ms;
    let final_state = status(story.ending.status);
    let failure = outcome.failure.as_ref().filter(|_| final_state == OutcomeStatus::Failed);
    let failure = failure.and_then(|failure| match serde_json::to_value(failure) {
        Ok(Value::Object(map)) => Some(JsonObject(map)),
        _ => None,
    });
    Lifecycle {
        created_at: Some(rfc3339(created)),
        started_at: rfc3339(story.entry.started_ms.unwrap_or(created)),
        completed_at: rfc3339(story.ending.at_ms),
        final_state,
        failure,
    }
}

pub(crate) fn final_artifact(artifact: &Artifact) -> FinalArtifact {
    let id = &artifact.envelope.id;
    FinalArtifact {
        artifact_id: id.clone(),
        kind: artifact.kind.as_str().to_owned(),
        uri: Some(artifact_uri(id)),
        sha256: artifact.sha256.as_deref().and_then(|bare| Sha256::parse_bare(bare).ok()),
    }
}
