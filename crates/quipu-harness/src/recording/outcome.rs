//! What a replay came to: derived from its source's recording and its plan, and from the note that ended it.

use quipu_core::DocumentKind;
use quipu_replay::task::{ReplayOutcome, Unavailable};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{HarnError, JsonObject, Outcome, Receipt, RequestDrift},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::ReplayDocument;
use crate::{Harness, handle::failure::harn_error, stored::named_after::outcome_id};

/// After how many events a replay checks whether it was called off.
const CHECK_EVERY: u64 = 1024;
/// In the payload of the note that ends a replay: what the module did.
const MODULE: &str = "module";

/// What the log keeps of the run of a module in a replay.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Ran {
    #[serde(default)]
    request_drift: Vec<RequestDrift>,
}

impl Harness {
    /// What a replay comes to. Reads storage.
    pub(crate) fn carry_out(&self, document: &ReplayDocument) -> Result<ReplayOutcome, HarnError> {
        let task = &document.plan.identity.replay_task_id;
        let called_off = || {
            self.field.with_state(|state| {
                state.tasks.get(task).is_some_and(|it| it.status == TaskStatus::Cancelled)
            })
        };
        let mut steps = self.replay_steps(document)?;
        let mut replayed = 0u64;
        while let Some(step) = steps.next() {
            step?;
            replayed += 1;
            if replayed.is_multiple_of(CHECK_EVERY) && called_off() {
                return Ok(steps.cancel());
            }
        }
        Ok(steps.finish())
    }

    /// What the note that ends a replay says of its module's run, put into what is derived again. Reads storage.
    pub(crate) fn as_noted(&self, mut outcome: ReplayOutcome) -> Result<ReplayOutcome, HarnError> {
        let task = outcome.replay_task_id.clone();
        let Some(payload) = self.module_ran(&task)? else { return Ok(outcome) };
        let ran = payload.get(MODULE).cloned().unwrap_or_default();
        let ran: Ran = serde_json::from_value(ran).unwrap_or_default();
        let says = |name: &str| payload.get(name).cloned().unwrap_or_default();
        outcome.request_drift = ran.request_drift;
        outcome.events = says("events").as_u64().unwrap_or(outcome.events);
        let state = serde_json::from_value(says("final_state")).ok();
        outcome.lifecycle.final_state = state.or(outcome.lifecycle.final_state);
        let failure = self.outcome_document(&task)?.and_then(|outcome| outcome.failure);
        let missing = failure.as_ref().and_then(Unavailable::of_failure);
        outcome.first_unavailable = missing.or(outcome.first_unavailable);
        Ok(outcome)
    }

    /// What was noted at the end of a replay, if a module ran in it. Reads storage.
    pub(crate) fn module_ran(&self, task: &str) -> Result<Option<JsonObject>, HarnError> {
        let noted = self.finish_noted(task)?.map(|(_, payload)| payload);
        Ok(noted.filter(|payload| payload.contains_key(MODULE)))
    }

    /// What is said of how a Task ended. Reads storage.
    pub(crate) fn outcome_document(&self, task: &str) -> Result<Option<Outcome>, HarnError> {
        self.stored(DocumentKind::Outcome, &outcome_id(task))
    }

    /// The last receipt of a Task. Reads storage.
    pub(crate) fn receipt_of(&self, task: &str) -> Result<Option<Receipt>, HarnError> {
        let at = self.field.with_state(|state| {
            let issued = state.documents.of_task(DocumentKind::Receipt, task).last();
            issued.map(|(_, entry)| entry.at)
        });
        let receipt = at.map(|at| self.field.body_at(at)).transpose();
        Ok(receipt.map_err(|error| harn_error(&error))?.flatten())
    }
}

/// What is noted of a module's run in a replay.
pub(crate) fn noted(outcome: &ReplayOutcome) -> (String, Value) {
    let ran = Ran { request_drift: outcome.request_drift.clone() };
    (MODULE.to_owned(), serde_json::to_value(ran).unwrap_or_default())
}
