//! What a strict replay must do again: ask for every recorded answer, and come to the same.

use quipu_core::rules::harn::NoteDraft;
use quipu_core::state::EventAddress;
use quipu_replay::task::{Drift, RecordedEvent};
use quipu_wire::harn::{
    DependencyKind, EventKind, HarnError, JsonObject, OutcomeStatus, ReplayMode, Sha256,
};
use serde_json::Value;
use std::collections::BTreeMap;

use super::document::{Executor, ReplayDocument};
use crate::{Harness, NoteBody};

impl Harness {
    /// Where a worker's strict replay that is about to complete is not what was recorded; nothing where it is, or
    /// where the Task is no such replay. With substitutes, what a run asks for and comes to may be another matter.
    /// Reads storage.
    pub(crate) fn drift_at_end(
        &self,
        task: &str,
        output: Option<&Value>,
    ) -> Result<Option<Drift>, HarnError> {
        let Some(document) = self.strict_by_worker(task)? else { return Ok(None) };
        if document.plan.mode == ReplayMode::WithOverrides {
            return Ok(None);
        }
        let source = &document.plan.identity.source_task_id;
        let asked = self.field.with_state(|state| {
            let stream = state.streams.task(task);
            stream.map(|stream| stream.dependencies.clone()).unwrap_or_default()
        });
        for recorded in self.recording(source)?.until_missing() {
            let event = recorded?.event;
            if is_left_out(&document, &event, &asked) {
                return Ok(Drift::left_out(&event));
            }
        }
        self.drift_of_output(&document, OutcomeStatus::Succeeded, output)
    }

    /// Where what a strict and exact replay comes to is not what came of its source. Reads storage.
    pub(crate) fn drift_of_output(
        &self,
        document: &ReplayDocument,
        ended: OutcomeStatus,
        output: Option<&Value>,
    ) -> Result<Option<Drift>, HarnError> {
        if !document.strict || document.plan.mode != ReplayMode::Exact {
            return Ok(None);
        }
        let said = self.outcome_document(&document.plan.identity.source_task_id)?;
        let Some(said) = said else { return Ok(None) };
        if said.status != ended {
            return Ok(Some(Drift::of_ending(said.status, ended)));
        }
        let then = said.envelope.metadata.get("output");
        let digest = |value: Option<&Value>| value.and_then(|value| Sha256::of_json(value).ok());
        let (then, now) = (digest(then), digest(output));
        Ok((then != now).then(|| Drift::of_output(then, now)))
    }

    /// A worker's strict replay. Reads storage.
    fn strict_by_worker(&self, task: &str) -> Result<Option<ReplayDocument>, HarnError> {
        let document = self.replay_document(task)?;
        Ok(document.filter(|it| it.strict && it.executor == Executor::Worker))
    }

    /// The note by which a replay says where it drifted.
    pub(crate) fn noting_drift(&self, task: &str, drift: &Drift) -> Result<NoteDraft, HarnError> {
        let failure = serde_json::to_value(drift.failure()).unwrap_or_default();
        let says =
            NoteBody { payload: JsonObject::with("failure", failure), ..NoteBody::default() };
        self.note(task, EventKind::ReplayFailed.as_str(), &says)
    }
}

/// Whether an event recorded what the replay went without. A secret is nobody's to ask for, and what the server fetched
/// itself is given to no worker.
fn is_left_out(
    document: &ReplayDocument,
    event: &RecordedEvent,
    asked: &BTreeMap<String, EventAddress>,
) -> bool {
    let before = document.plan.boundary.as_ref().is_some_and(|it| event.sequence <= it.sequence);
    event.dependency.as_ref().is_some_and(|answer| {
        !before
            && !answer.by_server
            && answer.kind != DependencyKind::SecretValue
            && !asked.contains_key(&answer.key)
    })
}
