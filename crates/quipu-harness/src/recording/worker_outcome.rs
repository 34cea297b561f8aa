//! What a worker's replay came to, from the notes of the answers that it was given.

use quipu_replay::task::{AppliedOverride, RecordedLifecycle, ReplayOutcome, Unavailable};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{DeltaOperation, HarnError, OutcomeStatus, RequestDrift, Sha256},
    json::timestamp::rfc3339,
};

use super::{
    departures::Requests,
    document::ReplayDocument,
    worked::{Break, Recorded, Worked},
};
use crate::Harness;

impl Harness {
    /// What a worker's replay came to. Its times are its source's. Reads storage.
    pub(crate) fn worker_outcome(
        &self,
        task: &str,
        document: &ReplayDocument,
    ) -> Result<ReplayOutcome, HarnError> {
        let plan = &document.plan;
        let source = &plan.identity.source_task_id;
        let mut outcome = ReplayOutcome {
            source_task_id: source.clone(),
            replay_task_id: task.to_owned(),
            mode: plan.mode,
            boundary: plan.boundary.clone(),
            events: 0,
            event_log_sha256: Sha256::of(&[]),
            applied: Vec::new(),
            lifecycle: self.worker_lifecycle(task, source)?,
            request_drift: Vec::new(),
            departures: Vec::new(),
            first_unavailable: None,
        };
        let mut requests = Requests::new();
        for recorded in Worked::new(self, task) {
            match recorded {
                Ok(recorded) => {
                    let given = recorded.event.dependency.as_ref();
                    requests.extend(given.map(|it| (it.key.clone(), it.request_sha256)));
                    self.take_answer(document, &recorded, &mut outcome)?;
                }
                Err(Break::Storage(error)) => return Err(error),
                Err(Break::Missing(missing)) => {
                    outcome.first_unavailable.get_or_insert(missing);
                }
            }
        }
        let failure = self.outcome_document(task)?.and_then(|outcome| outcome.failure);
        let missing = failure.as_ref().and_then(Unavailable::of_failure);
        outcome.first_unavailable = missing.or(outcome.first_unavailable);
        outcome.applied.sort_by(|one, other| one.key.cmp(&other.key));
        outcome.departures = self.departures(document, &requests, &outcome)?;
        Ok(outcome)
    }

    fn take_answer(
        &self,
        document: &ReplayDocument,
        recorded: &Recorded,
        outcome: &mut ReplayOutcome,
    ) -> Result<(), HarnError> {
        let (Some(given), Some(replay)) = (&recorded.event.dependency, &recorded.narrated.replay)
        else {
            return Ok(());
        };
        outcome.events += 1;
        let then = self.recorded_under(&document.plan.identity.source_task_id, &given.key)?;
        let then = then.and_then(|event| event.dependency);
        let asked_then = then.as_ref().and_then(|it| it.request_sha256);
        if let (Some(before), Some(now)) = (asked_then, given.request_sha256)
            && before != now
        {
            let (recorded, asked) = (Some(before), Some(now));
            outcome.request_drift.push(RequestDrift { key: given.key.clone(), recorded, asked });
        }
        let planned = replay.override_key.as_ref().and_then(|key| document.plan.overrides.get(key));
        let Some(planned) = planned else { return Ok(()) };
        let before = then.filter(|it| !it.material.is_gone()).map(|it| it.sha256);
        let operation = match before {
            Some(_) => DeltaOperation::Replace,
            None => DeltaOperation::Add,
        };
        outcome.applied.push(AppliedOverride {
            key: given.key.clone(),
            kind: planned.kind,
            event_id: replay.original_event_id.clone().unwrap_or_default(),
            operation,
            before,
            after: planned.sha256,
            artifact_id: planned.artifact_id().map(str::to_owned),
            visibility: planned.visibility,
            reason: Some(document.plan.reason_for(planned)),
        });
        Ok(())
    }

    /// Recorded times, and how the worker ended.
    fn worker_lifecycle(&self, task: &str, source: &str) -> Result<RecordedLifecycle, HarnError> {
        let entry = self.field.with_state(|state| state.tasks.get(task).cloned());
        let final_state = entry.as_ref().and_then(|entry| match entry.status {
            TaskStatus::Completed => Some(OutcomeStatus::Succeeded),
            TaskStatus::Failed => Some(OutcomeStatus::Failed),
            TaskStatus::Cancelled => Some(OutcomeStatus::Canceled),
            TaskStatus::Pending
            | TaskStatus::Assigned
            | TaskStatus::InProgress
            | TaskStatus::Blocked => None,
        });
        if let Some(receipt) = self.receipt_of(source)? {
            return Ok(RecordedLifecycle {
                created_at: receipt.lifecycle.created_at,
                started_at: Some(receipt.lifecycle.started_at),
                completed_at: Some(receipt.lifecycle.completed_at),
                final_state,
            });
        }
        Ok(RecordedLifecycle {
            created_at: entry.as_ref().map(|entry| rfc3339(entry.created_ms)),
            started_at: entry.as_ref().and_then(|entry| entry.started_ms).map(rfc3339),
            completed_at: entry.map(|entry| rfc3339(entry.updated_ms)),
            final_state,
        })
    }
}
