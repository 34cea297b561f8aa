//! The Outcome of a Task: what its worker said of it, or what follows from the log where nobody said anything.

use quipu_core::DocumentKind;
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        Failure, HarnError, JsonObject, Outcome, OutcomeObject, OutcomeStatus, ResourceEnvelope,
    },
};
use serde_json::Value;

use super::story::Story;
use crate::{Harness, stored::named_after::outcome_id};

impl Harness {
    /// The Outcome of the ending. What was said in the commit that ended the Task stands. Reads storage.
    pub(super) fn outcome_of(&self, story: &Story) -> Result<Outcome, HarnError> {
        let id = outcome_id(&story.task);
        let said = self.field.with_state(|state| {
            let entry = state.documents.get(DocumentKind::Outcome, &id);
            entry.filter(|entry| entry.at.0 == story.ending.position).cloned()
        });
        if let Some(entry) = said
            && let Some(outcome) = self.body_of::<Outcome>(&entry)?
        {
            return Ok(outcome);
        }
        let mut outcome = outcome_from_log(story, &id);
        if let Some(failure) = self.exhausted(&story.task) {
            outcome.summary.clone_from(&failure.message);
            outcome.failure = Some(failure);
        }
        Ok(outcome)
    }
}

/// The Outcome of a Task whose worker said nothing of it.
fn outcome_from_log(story: &Story, id: &str) -> Outcome {
    let status = status(story.ending.status);
    let reason = story.ending.reason.as_deref();
    let summary = match (status, reason) {
        (OutcomeStatus::Succeeded, _) => "completed".to_owned(),
        (OutcomeStatus::Failed, None) => "failed".to_owned(),
        (OutcomeStatus::Failed, Some(reason)) => format!("failed: {reason}"),
        (OutcomeStatus::Canceled, None) => "canceled".to_owned(),
        (OutcomeStatus::Canceled, Some(reason)) => format!("canceled: {reason}"),
    };
    let failure = (status == OutcomeStatus::Failed).then(|| Failure {
        code: "task_failed".to_owned(),
        message: reason.unwrap_or("no reason was given").to_owned(),
        details: JsonObject::default(),
    });
    let mut envelope = ResourceEnvelope::new(id, "");
    if !story.entry.results.is_empty() && status == OutcomeStatus::Succeeded {
        let units = story.entry.results.iter().map(|unit| Value::from(unit.to_string()));
        envelope.metadata = JsonObject::with("result_unit_ids", units.collect::<Vec<_>>());
    }
    Outcome {
        object: OutcomeObject::Outcome,
        envelope,
        task_id: story.task.clone(),
        status,
        summary,
        messages: Vec::new(),
        artifacts: Vec::new(),
        handoffs: Vec::new(),
        receipt_id: None,
        failure,
        cost: JsonObject::default(),
        metrics: JsonObject::default(),
    }
}

/// How a Task ended, in the words of Outcomes and receipts.
pub(super) const fn status(status: TaskStatus) -> OutcomeStatus {
    match status {
        TaskStatus::Completed => OutcomeStatus::Succeeded,
        TaskStatus::Cancelled => OutcomeStatus::Canceled,
        TaskStatus::Failed
        | TaskStatus::Pending
        | TaskStatus::Assigned
        | TaskStatus::InProgress
        | TaskStatus::Blocked => OutcomeStatus::Failed,
    }
}
