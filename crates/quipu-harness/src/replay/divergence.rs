//! `GET /v1/tasks/{task_id}/divergence`: a replay beside its source. In process each event of the one has its
//! event of the other; a worker's run is compared by what it was given, what it did, and how it ended.

use quipu_core::DocumentKind;
use quipu_replay::task::{Comparison, RecordedEvent, ReplayOutcome};
use quipu_wire::harn::{
    Divergence, DivergenceObject, EventName, EventSide, HarnError, HarnErrorCode, OutputPair,
    TaskState,
};
use serde_json::Value;

use crate::{
    Caller, Harness,
    recording::{
        document::{Executor, ReplayDocument},
        steps::Step,
        worked::{Break, Recorded, Worked},
    },
    stored::named_after::outcome_id,
};

impl Harness {
    /// `GET /v1/tasks/{task_id}/divergence`.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where it is no replay or not over.
    pub async fn divergence(&self, caller: &Caller, task: &str) -> Result<Divergence, HarnError> {
        let view = self.view_task(caller, task)?;
        let conflict = |message: String| Err(HarnError::new(HarnErrorCode::Conflict, message));
        let id = task.to_owned();
        let document = self.reading(move |harness| harness.replay_document(&id)).await?;
        let Some(document) = document else {
            return conflict(format!("task {task} is no replay: there is nothing to compare"));
        };
        if !self.settled_state(&view).is_terminal() {
            return conflict(format!("task {task} is {}: it is not over", TaskState::Working));
        }
        let caller = caller.clone();
        self.reading(move |harness| harness.diverge(&caller, &document)).await
    }

    /// Reads storage.
    fn diverge(&self, caller: &Caller, document: &ReplayDocument) -> Result<Divergence, HarnError> {
        let identity = &document.plan.identity;
        let (compared, outcome) = match document.executor {
            Executor::InProcess => self.beside(document)?,
            Executor::Worker => {
                let outcome = self.worker_outcome(&identity.replay_task_id, document)?;
                (self.beside_worker(document)?, outcome)
            }
        };
        let output = self.outputs(caller, &identity.source_task_id, &identity.replay_task_id)?;
        let dependencies = outcome.changed_dependencies();
        let diverged = compared.first_difference.is_some()
            || !dependencies.is_empty()
            || !outcome.request_drift.is_empty()
            || !output.equal;
        Ok(Divergence {
            object: DivergenceObject::Divergence,
            source_task_id: identity.source_task_id.clone(),
            replay_task_id: identity.replay_task_id.clone(),
            diverged,
            events_compared: compared.events_compared,
            first_difference: compared.first_difference,
            dependencies,
            request_drift: outcome.request_drift,
            output,
        })
    }

    fn beside(&self, document: &ReplayDocument) -> Result<(Comparison, ReplayOutcome), HarnError> {
        let identity = &document.plan.identity;
        let finish = self.finish_of(&identity.replay_task_id)?;
        let mut compared = Comparison::default();
        let mut steps = self.replay_steps(document)?;
        for step in steps.by_ref() {
            let Step { source, replayed } = step?;
            let ordinal = replayed.sequence;
            if finish.as_ref().is_some_and(|finish| ordinal >= finish.events) {
                // The source went on, and the replay did not.
                compared.next(Some(side(&source.event)), None);
                continue;
            }
            let replay = EventSide {
                event_id: finish.as_ref().map_or(replayed.event_id, |it| it.event_id(ordinal)),
                event: replayed.event.as_str().to_owned(),
                sequence: finish.as_ref().map_or(ordinal, |it| it.sequence_of(ordinal)),
                sha256: replayed.payload.sha256(),
            };
            compared.next(Some(side(&source.event)), Some(replay));
        }
        let outcome = self.as_noted(steps.finish())?;
        if let Some(id) = outcome.first_unavailable.as_ref().and_then(|it| it.event_id.as_ref()) {
            // Where the source went on and the replay could not.
            let mut source = self.recording(&identity.source_task_id)?.until_missing();
            let next = source.find(|recorded| {
                recorded.as_ref().map_or(true, |recorded| recorded.event.event_id == *id)
            });
            compared.next(next.transpose()?.map(|recorded| side(&recorded.event)), None);
        }
        Ok((compared, outcome))
    }

    fn beside_worker(&self, document: &ReplayDocument) -> Result<Comparison, HarnError> {
        let identity = &document.plan.identity;
        let mut worked = Worked::new(self, &identity.replay_task_id);
        let mut compared = Comparison::default();
        let past = document.plan.boundary.as_ref().map(|boundary| boundary.sequence);
        for source in self.recording(&identity.source_task_id)?.until_missing() {
            let source = source?;
            let before = past.is_some_and(|past| source.event.sequence <= past);
            if before || !is_compared(&source) {
                continue;
            }
            let replay = next_compared(&mut worked)?;
            compared.next(Some(side(&source.event)), replay.map(|it| side(&it.event)));
        }
        if let Some(more) = next_compared(&mut worked)? {
            compared.next(None, Some(side(&more.event)));
        }
        Ok(compared)
    }

    /// The outputs, each where the caller may read the Outcome that it is in.
    fn outputs(
        &self,
        caller: &Caller,
        source: &str,
        replay: &str,
    ) -> Result<OutputPair, HarnError> {
        let outputs = (self.output_of(source)?, self.output_of(replay)?);
        let reads = |task: &str| {
            let entry = self.entry(caller, DocumentKind::Outcome, &outcome_id(task));
            entry.is_some_and(|entry| self.sees_quoted(caller, &entry))
        };
        let equal = outputs.0 == outputs.1;
        let source_output = outputs.0.filter(|_| reads(source));
        let replay_output = outputs.1.filter(|_| reads(replay));
        Ok(OutputPair { equal, source: source_output, replay: replay_output })
    }

    /// What came of a Task, as whoever ended it put it. Reads storage.
    fn output_of(&self, task: &str) -> Result<Option<Value>, HarnError> {
        let outcome = self.outcome_document(task)?;
        Ok(outcome.and_then(|outcome| outcome.envelope.metadata.get("output").cloned()))
    }
}

fn side(event: &RecordedEvent) -> EventSide {
    EventSide {
        event_id: event.event_id.clone(),
        event: event.event.as_str().to_owned(),
        sequence: event.sequence,
        sha256: event.payload_sha256,
    }
}

/// Whether an event of a worker's run says what the run was given, what it did, or how it ended.
fn is_compared(recorded: &Recorded) -> bool {
    let ends = match recorded.event.event {
        EventName::Known(kind) => TaskState::ended_by(kind).is_some(),
        EventName::Vendor(_) => false,
    };
    let done = recorded.event.event.as_str().starts_with("agent.");
    recorded.event.dependency.is_some() || ends || done
}

fn next_compared(worked: &mut Worked) -> Result<Option<Recorded>, HarnError> {
    for recorded in worked {
        match recorded {
            Ok(recorded) if is_compared(&recorded) => return Ok(Some(recorded)),
            Err(Break::Storage(error)) => return Err(error),
            Ok(_) | Err(Break::Missing(_)) => {}
        }
    }
    Ok(None)
}
