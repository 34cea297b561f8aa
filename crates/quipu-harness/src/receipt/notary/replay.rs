//! The receipt of a replay: what its source's receipt says of where and under what it ran, and what the replay
//! did. Nothing of this server enters it but the configured issuer, so that whoever replays the same issues
//! the same.

use std::sync::Arc;

use quipu_replay::{
    receipt::{EventLogFact, ReplayFacts, RunFacts, issue_replay},
    task::{ReplayIdentity, ReplayOutcome, Replayer},
};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        FinalArtifact, HarnError, Identifiers, JsonObject, MaterialKind, Outcome, Receipt, Trust,
    },
};

use super::{bound::BoundLog, issue::artifact_uri};
use crate::{
    Harness,
    handle::failure::internal_error,
    recording::{
        document::{Executor, ReplayDocument},
        materials::Kept,
    },
    stored::named_after::{self, event_log_artifact, event_log_name, free_receipt_id},
};

/// Members of a receipt's metadata that are about one replay, and not of its source.
const OWN_METADATA: [&str; 7] = [
    "source_task_id",
    "replay_mode",
    "checkpoint_id",
    "request_drift",
    "agent_id",
    "imported",
    UNPROVEN,
];
/// In a receipt's metadata: that the recording came from elsewhere, and nothing proves what it says.
const UNPROVEN: &str = "source_unproven";

/// What the receipt of a replay builds on: where its source ran and under which policy, and what the Task says of it where
/// that has no receipt.
#[derive(Debug, Clone)]
pub(crate) struct Grounds {
    pub(crate) identifiers: Identifiers,
    pub(crate) trust: Trust,
    pub(crate) receipt_id: String,
    /// None where the Persona of the source has no receipts, or it came without one.
    pub(crate) source: Option<Receipt>,
    /// Whether the source came from elsewhere with nothing that binds what it says.
    pub(crate) is_unproven: bool,
}

impl Harness {
    /// The receipt of a replay Task that ended, sealed and signed. Reads storage.
    pub(crate) fn replay_receipt(
        &self,
        task: &str,
        document: &ReplayDocument,
        grounds: Grounds,
        (outcome, log): (&Outcome, &Option<BoundLog>),
    ) -> Result<Receipt, HarnError> {
        let replayed = self.replay_outcome(task, document)?;
        // Where a module ran or a worker, what came of it is the replay's own.
        let ran = document.executor == Executor::Worker || self.module_ran(task)?.is_some();
        let source_failure = if ran {
            own_failure(outcome)
        } else {
            let source = grounds.source.as_ref();
            source.and_then(|receipt| receipt.lifecycle.failure.clone())
        };
        let facts = ReplayFacts {
            run: self.run_facts(document, &replayed, grounds, (outcome, log, ran)),
            secrets: self.options.secrets.clone(),
            source_failure,
        };
        let receipt = issue_replay(facts, &document.plan, &replayed);
        let mut receipt = receipt.map_err(|error| internal_error(error.to_string()))?;
        if let (Some(signer), Some(hash)) = (&self.options.signer, receipt.chain.receipt_hash) {
            receipt.signatures.push(signer.sign(&hash, Some(receipt.issued_at.clone())));
        }
        Ok(receipt)
    }

    /// What a replay came to, by how its Task ended.
    fn replay_outcome(
        &self,
        task: &str,
        document: &ReplayDocument,
    ) -> Result<ReplayOutcome, HarnError> {
        let status = self.field.with_state(|state| state.tasks.get(task).map(|it| it.status));
        let finish = self.finish_of(task)?;
        match (document.executor, status) {
            (Executor::Worker, _) => self.worker_outcome(task, document),
            // Called off before it came to an end: nothing of it was emitted.
            (Executor::InProcess, Some(TaskStatus::Cancelled)) if finish.is_none() => {
                self.called_off(document)
            }
            (Executor::InProcess, _) => self.as_noted(self.carry_out(document)?),
        }
    }

    /// A replay that was called off. The times are still the recording's.
    fn called_off(&self, document: &ReplayDocument) -> Result<ReplayOutcome, HarnError> {
        let mut replayer = Replayer::new(Arc::new(document.plan.clone()));
        let source = &document.plan.identity.source_task_id;
        if let Some(first) = self.recording(source)?.until_missing().next() {
            // Only the first event, for when the run began.
            let kept = Kept { harness: self, caller: None };
            let _emitted = replayer.step(&first?.event, &kept);
        }
        Ok(ReplayOutcome { events: 0, ..replayer.cancel() })
    }

    /// The id of the receipt of a replay. Reads storage.
    pub(crate) fn replay_receipt_id(
        &self,
        document: &ReplayDocument,
        source: Option<&Receipt>,
    ) -> String {
        let first = receipt_id(document, source.map(|it| it.receipt_id.as_str()));
        let task = &document.plan.identity.replay_task_id;
        self.field.with_state(|state| free_receipt_id(state, task, first))
    }

    fn run_facts(
        &self,
        document: &ReplayDocument,
        replayed: &ReplayOutcome,
        grounds: Grounds,
        (outcome, log, ran): (&Outcome, &Option<BoundLog>, bool),
    ) -> RunFacts {
        let own_log = log.as_ref().map(|log| log.fact.clone());
        let identity = &document.plan.identity;
        let Grounds { receipt_id, source, is_unproven, .. } = grounds;
        let mut own_words = JsonObject::default();
        if is_unproven {
            own_words.insert(UNPROVEN.to_owned(), true.into());
        }
        // Signatures name their key; the bytes that are compared do not.
        let mut issuer = self.options.issuer.clone();
        issuer.public_key_id = None;
        let event_log = source.as_ref().and_then(event_log_of).unwrap_or_else(|| {
            let id = event_log_name(None, &identity.source_task_id);
            let uri = artifact_uri(&event_log_artifact(&id));
            EventLogFact { id, uri, sha256: replayed.event_log_sha256, binds: false }
        });
        let failed = replayed.first_unavailable.is_some();
        let own: Vec<FinalArtifact> =
            outcome.artifacts.iter().map(crate::receipt::notary::issue::final_artifact).collect();
        let Some(source) = source else {
            return RunFacts {
                receipt_id,
                issuer,
                identifiers: grounds.identifiers,
                trust: grounds.trust,
                model_route: None,
                event_log: Some(event_log),
                own_log,
                final_artifacts: own,
                previous_receipt_hash: None,
                merkle_root: None,
                metadata: own_words,
            };
        };
        let final_artifacts = match (failed, ran) {
            (true, _) => Vec::new(),
            (false, true) => own,
            (false, false) => source.final_artifacts,
        };
        let mut metadata = source.metadata;
        metadata.retain(|key, _| !OWN_METADATA.contains(&key.as_str()));
        metadata.extend(own_words.0);
        let asked_no_model = source.model_route.chosen_model.provider == "none";
        RunFacts {
            receipt_id,
            issuer,
            identifiers: Identifiers {
                task_id: identity.replay_task_id.clone(),
                ..source.identifiers
            },
            trust: source.trust,
            model_route: (!asked_no_model).then_some(source.model_route),
            event_log: Some(event_log),
            own_log,
            final_artifacts,
            previous_receipt_hash: source.chain.receipt_hash,
            merkle_root: source.chain.merkle_root,
            metadata,
        }
    }
}

fn own_failure(outcome: &Outcome) -> Option<JsonObject> {
    let failure = serde_json::to_value(outcome.failure.as_ref()?).ok()?;
    failure.as_object().cloned().map(JsonObject)
}

fn event_log_of(receipt: &Receipt) -> Option<EventLogFact> {
    let materials = &receipt.replay_input.materials;
    let log = materials.iter().find(|material| material.kind == MaterialKind::EventLog)?;
    let (id, uri) = (log.id.clone()?, log.uri.clone()?);
    Some(EventLogFact { id, uri, sha256: log.sha256?, binds: false })
}

fn receipt_id(document: &ReplayDocument, source_receipt: Option<&str>) -> String {
    let identity = &document.plan.identity;
    let Some(source) = source_receipt else {
        return named_after::receipt_id(&identity.replay_task_id);
    };
    let first = ReplayIdentity::receipt_id(source);
    if document.number == 1 { first } else { format!("{first}_{}", document.number) }
}
