//! `POST /v1/tasks/{task_id}/dependencies/resolve`: a worker that replays a Task asks for an answer by its key.
//! It is given what was recorded or substituted, and nobody is ever asked live. Each answer that is given is
//! noted once, so that the worker's run is a recording itself; the first that cannot be given ends the replay.

use quipu_core::{
    event::documents::{Note, NotedDependency},
    rules::harn::{AUTHORITY_OTHERS, HarnAct, HarnCommand, NoteDraft},
};
use quipu_replay::task::{
    Answer, Drift, Oracle, RecordedEvent, ReplayIdentity, Resolution, Unavailable, UnavailableKind,
    delta_id,
};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        DependencyKind, EventKind, HarnError, HarnErrorCode, JsonObject, ReplayEventMetadata,
        RequestDrift, ResolutionSource, ResolveDependencyRequest, ResolvedDependency, Visibility,
    },
};

use crate::{
    Caller, Harness, NoteBody, WriteRequest,
    handle::failure::harn_error,
    recording::{
        document::{Executor, ReplayDocument},
        materials::Kept,
    },
    stored::note::DEPENDENCY_RECORDED,
    task::tasks::TaskView,
    work::worker::drifted,
};

/// The answer for a worker, and the event that recorded it.
struct Answered {
    resolution: Resolution,
    recorded: RecordedEvent,
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/dependencies/resolve`.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it, it is no replay for workers,
    /// or an answer is missing: the replay has then failed, and `details` names what is missing. 403 where the
    /// answer is not for the caller.
    pub async fn resolve_dependency(
        &self,
        write: &WriteRequest,
        task: &str,
        request: ResolveDependencyRequest,
    ) -> Result<ResolvedDependency, HarnError> {
        let view = self.view_task(&write.caller, task)?;
        let id = task.to_owned();
        let document = self.reading(move |harness| harness.replay_document(&id)).await?;
        let document = document.filter(|it| it.executor == Executor::Worker);
        let document = document.ok_or_else(|| conflict("the task is no replay for workers"))?;
        self.check_holds(write, &view)?;
        let (of, asks, caller) = (document.clone(), request.clone(), write.caller.clone());
        let answered =
            self.reading(move |harness| harness.answer_again(&caller, &of, &asks)).await?;
        match answered {
            Ok(answered) => {
                if document.strict && answered.resolution.divergent {
                    return Err(self
                        .fail_for_drift(write, &view, &document, &request, &answered)
                        .await?);
                }
                let noted = self.field.with_state(|state| {
                    let stream = state.streams.task(task);
                    stream.is_some_and(|it| it.dependencies.contains_key(&request.key))
                });
                if !noted {
                    let note = self.given(&document, &request, &answered)?;
                    self.work(write, &view, note).await?;
                }
                Ok(resolved_dependency(request.key, answered.resolution))
            }
            Err(missing) => {
                self.fail_for(write, &view, &missing).await?;
                let mut error = conflict(&missing.to_string());
                error.details = missing.failure().details;
                Err(error)
            }
        }
    }

    /// Only whoever works on the Task is given answers, or may work on the Tasks of others.
    pub(super) fn check_holds(
        &self,
        write: &WriteRequest,
        view: &TaskView,
    ) -> Result<(), HarnError> {
        let agent = &write.caller.agent;
        if view.entry.status != TaskStatus::InProgress {
            let status = view.status;
            return Err(conflict(&format!("task {} is {status}; nobody works on it", view.id)));
        }
        let session = view.entry.session.as_deref();
        let own = self.authority_of(&write.caller, session);
        if view.entry.holder() == Some(agent.as_str()) || own >= AUTHORITY_OTHERS {
            return Ok(());
        }
        Err(conflict(&format!("task {} is not held by {agent}; claim it first", view.id)))
    }

    /// Reads storage.
    fn answer_again(
        &self,
        caller: &Caller,
        document: &ReplayDocument,
        request: &ResolveDependencyRequest,
    ) -> Result<Result<Answered, Unavailable>, HarnError> {
        let identity = &document.plan.identity;
        let mut plan = document.plan.clone();
        self.held.restore(&identity.replay_task_id, &mut plan);
        let recorded = self.recorded_under(&identity.source_task_id, &request.key)?;
        let dependency = recorded.as_ref().and_then(|event| event.dependency.clone());
        self.check_may_receive(caller, document, &request.key, dependency.as_ref())?;
        let kept = Kept { harness: self, caller: None };
        let mut oracle = Oracle::new(&plan);
        let resolved = oracle.resolve(&request.key, request.request, dependency.as_ref(), &kept);
        Ok(match (resolved, recorded) {
            (Ok(resolution), Some(recorded)) => Ok(Answered { resolution, recorded }),
            (Err(missing), recorded) => Err(located(missing, recorded.as_ref())),
            // Admission lets no override pass whose key was never recorded.
            (Ok(_), None) => Err(never(&request.key)),
        })
    }

    fn given(
        &self,
        document: &ReplayDocument,
        request: &ResolveDependencyRequest,
        answered: &Answered,
    ) -> Result<NoteDraft, HarnError> {
        let identity = &document.plan.identity;
        let Answered { resolution, recorded } = answered;
        let key = request.key.clone();
        let planned = document.plan.overrides.get(&key);
        let secret = resolution.kind == DependencyKind::SecretValue;
        let (value, artifact_id) = match &resolution.answer {
            Answer::Value(_) if secret => (None, None),
            Answer::Value(value) => (Some(value.clone()), None),
            Answer::Artifact(id) => (None, Some(id.clone())),
        };
        let of_secret = || match planned {
            Some(planned) => planned.public_digest(&self.options.secrets),
            None => recorded.dependency.as_ref().map(|it| it.sha256),
        };
        let number = self.field.with_state(|state| {
            let stream = state.streams.task(&identity.replay_task_id);
            stream.map_or(0, |stream| stream.dependencies.len() as u64)
        });
        let override_key = planned.map(|_| key.clone());
        let visibility = match planned {
            _ if secret => Visibility::ReceiptOnly,
            Some(planned) => planned.visibility,
            None => recorded.dependency.as_ref().map_or(recorded.visibility, |it| it.visibility),
        };
        let mut payload = JsonObject::default();
        if resolution.divergent {
            payload.insert("request_differs".to_owned(), true.into());
        }
        let says = NoteBody {
            payload,
            value,
            artifact_id,
            sha256: if secret { of_secret() } else { Some(resolution.sha256) },
            request_sha256: request.request,
            replay: Some(ReplayEventMetadata {
                source_task_id: identity.source_task_id.clone(),
                replay_task_id: identity.replay_task_id.clone(),
                original_event_id: Some(recorded.event_id.clone()),
                replay_cursor: Some(ReplayIdentity::cursor(number)),
                mode: Some(document.plan.mode),
                receipt_delta_id: override_key.as_deref().map(delta_id),
                override_key,
            }),
        };
        let body = self.field.seal(&says).map_err(|error| harn_error(&error))?;
        // The worker was given a checkpoint's state; it made no checkpoint.
        let event = if resolution.kind == DependencyKind::CheckpointValue {
            DEPENDENCY_RECORDED
        } else {
            recorded.event.as_str()
        };
        let note = Note {
            event: event.to_owned(),
            visibility,
            dependency: Some(NotedDependency { key, kind: resolution.kind }),
            checkpoint: None,
            imported: None,
        };
        Ok(NoteDraft { task: identity.replay_task_id.clone(), note, body: Some(body) })
    }

    async fn work(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        note: NoteDraft,
    ) -> Result<(), HarnError> {
        let command = HarnCommand {
            act: Some(HarnAct::WorkOn { task: view.id.clone() }),
            notes: vec![note],
            ..HarnCommand::default()
        };
        let plain = WriteRequest { key: None, ..write.clone() };
        self.write_on(&plain, view, "dependencies/resolve", command).await?;
        Ok(())
    }

    /// Ends a worker's strict replay, because something else is asked than was recorded. What was asked is noted, as
    /// if it had been answered.
    async fn fail_for_drift(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        document: &ReplayDocument,
        request: &ResolveDependencyRequest,
        answered: &Answered,
    ) -> Result<HarnError, HarnError> {
        let recorded = &answered.recorded;
        let then = recorded.dependency.as_ref().and_then(|it| it.request_sha256);
        let differs =
            RequestDrift { key: request.key.clone(), recorded: then, asked: request.request };
        let drift = Drift::of_request(&differs, Some(recorded));
        let mut command = self.failing_command(view, drift.failure())?;
        let noted = self.recorded_at(&view.id, &request.key).is_some();
        if !noted {
            command.notes.push(self.given(document, request, answered)?);
        }
        command.notes.push(self.noting_drift(&view.id, &drift)?);
        let plain = WriteRequest { key: None, ..write.clone() };
        self.write_on(&plain, view, "dependencies/resolve", command).await?;
        self.settle(&view.id).await?;
        Ok(drifted(&drift))
    }

    /// Ends a worker's replay, because something cannot be had.
    async fn fail_for(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        missing: &Unavailable,
    ) -> Result<(), HarnError> {
        let task = &view.id;
        let failure = missing.failure();
        let noted = serde_json::to_value(&failure).unwrap_or_default();
        let says = NoteBody { payload: JsonObject::with("failure", noted), ..NoteBody::default() };
        let mut command = self.failing_command(view, failure)?;
        command.notes.push(self.note(task, EventKind::ReplayFailed.as_str(), &says)?);
        let plain = WriteRequest { key: None, ..write.clone() };
        self.write_on(&plain, view, "dependencies/resolve", command).await?;
        self.settle(task).await
    }
}

fn conflict(message: &str) -> HarnError {
    HarnError::new(HarnErrorCode::Conflict, message.to_owned())
}

/// What is missing, with the event that recorded it.
fn located(mut missing: Unavailable, recorded: Option<&RecordedEvent>) -> Unavailable {
    missing.event_id = recorded.map(|event| event.event_id.clone());
    missing.sequence = recorded.map(|event| event.sequence);
    missing
}

fn never(key: &str) -> Unavailable {
    Unavailable {
        kind: UnavailableKind::never_recorded(key),
        id: key.to_owned(),
        override_key: Some(key.to_owned()),
        event_id: None,
        sequence: None,
        reason: "it was never recorded".to_owned(),
    }
}

fn resolved_dependency(key: String, resolution: Resolution) -> ResolvedDependency {
    let (value, artifact_id) = match resolution.answer {
        Answer::Value(value) => (Some(value), None),
        Answer::Artifact(id) => (None, Some(id)),
    };
    let source: ResolutionSource = resolution.source;
    ResolvedDependency {
        key,
        source,
        kind: resolution.kind,
        value,
        artifact_id,
        sha256: resolution.sha256,
        divergent: resolution.divergent,
    }
}
