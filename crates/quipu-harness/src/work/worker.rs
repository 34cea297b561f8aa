//! What a worker does with a Task: takes it, reports what happens, and ends it. An Akashik agent does the same
//! by COORDINATE.

use quipu_core::{
    DocumentKind, Event as Logged,
    event::coordination::ReasonBody,
    rules::harn::{Error as Rule, Expect, HarnAct, HarnCommand},
};
use quipu_field::HarnOutcome;
use quipu_log::Body;
use quipu_replay::task::Drift;
use quipu_wire::{
    harn::{
        AppendEventRequest, Artifact, ClaimTaskRequest, CompleteTaskRequest, Event,
        FailTaskRequest, Failure, HarnError, HarnErrorCode, HarnTask, JsonObject, Message,
        MessageObject, MessageRole, Outcome, OutcomeObject, OutcomeStatus, Part, ResourceEnvelope,
        ResourceKind, Sha256, Visibility,
    },
    json::timestamp::rfc3339,
};
use serde_json::Value;

use crate::{
    EventPosition, Harness, NoteBody, WriteRequest,
    handle::failure::harn_error,
    not_found,
    permission::ToolUse,
    stored::named_after::outcome_id,
    task::tasks::{TaskView, attempts_exhausted, is_replay},
};

/// How a Task ended, as its worker says it.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) status: OutcomeStatus,
    pub(crate) summary: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) output: Option<Value>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) failure: Option<Failure>,
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/claim`. Claiming again renews the lease.
    ///
    /// # Errors
    /// 404 where there is none, 423 where somebody else has it, 409 where it has ended.
    pub async fn claim_task(
        &self,
        write: &WriteRequest,
        id: &str,
        request: &ClaimTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        self.take_task(write, id, request).await.map_err(|error| match error.rule() {
            Some(held @ Rule::Held { .. }) => {
                HarnError::new(HarnErrorCode::ResourceLocked, held.to_string())
            }
            _ => error.into(),
        })
    }

    /// `POST /v1/tasks/{task_id}/events`.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it, 422 where its Persona may not
    /// use the tool that it reports.
    pub async fn append_event(
        &self,
        write: &WriteRequest,
        id: &str,
        request: AppendEventRequest,
    ) -> Result<Event, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        if let Some(tool) = ToolUse::of_event(&request.event, &request.payload) {
            self.check_tool_use(write, &view, &tool).await?;
        }
        let mut says = NoteBody::default();
        if request.visibility == Visibility::ReceiptOnly {
            // Nobody is to read it: a digest proves what it was.
            let digest = Sha256::of_json(&Value::Object(request.payload.0));
            says.sha256 = digest.ok();
        } else {
            says.payload = request.payload;
        }
        let mut note = self.note(id, request.event.as_str(), &says)?;
        note.note.visibility = request.visibility;
        let command = HarnCommand {
            act: Some(HarnAct::WorkOn { task: id.to_owned() }),
            notes: vec![note],
            ..HarnCommand::default()
        };
        let outcome = self.write_on(write, &view, "events", command).await?;
        let place = noted_at(&outcome).ok_or_else(|| not_found(ResourceKind::Event, id))?;
        self.event(&write.caller, &place.id()).await
    }

    /// `POST /v1/tasks/{task_id}/complete`.
    ///
    /// # Errors
    /// 404 where there is no such Task or Artifact, 409 where the caller does not work on it.
    pub async fn complete_task(
        &self,
        write: &WriteRequest,
        id: &str,
        request: CompleteTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let mut artifacts = Vec::new();
        for (index, artifact) in request.artifacts.iter().enumerate() {
            let found = self.readable_artifact(&write.caller, artifact).await;
            artifacts.push(found.map_err(|error| error.at(format!("artifacts[{index}]")))?);
        }
        let output = request.output.as_ref().map(|output| self.output_artifact(&view, output));
        let mut kept = Vec::new();
        if let Some((artifact, drafts)) = output.transpose()?.flatten() {
            artifacts.push(artifact);
            kept = drafts;
        }
        let mut parts = vec![Part::text(&request.summary)];
        let json = |value| Part::Json { value, visibility: Visibility::Public };
        parts.extend(request.output.clone().map(json));
        let ending = Ending {
            status: OutcomeStatus::Succeeded,
            summary: request.summary,
            parts,
            output: request.output,
            artifacts,
            failure: None,
        };
        if let Some(drift) = self.drift_of(id, ending.output.as_ref()).await? {
            let mut command = self.failing_command(&view, drift.failure())?;
            command.notes.push(self.noting_drift(id, &drift)?);
            self.write_on(write, &view, "complete", command).await?;
            self.settle(id).await?;
            return Err(drifted(&drift));
        }
        let act = HarnAct::Complete { task: id.to_owned(), results: view.entry.results.clone() };
        let mut command = self.ending_command(&view, act, ending)?;
        command.documents.splice(0..0, kept);
        self.write_on(write, &view, "complete", command).await?;
        self.ended_task(&write.caller, id).await
    }

    async fn drift_of(
        &self,
        task: &str,
        output: Option<&Value>,
    ) -> Result<Option<Drift>, HarnError> {
        let (id, output) = (task.to_owned(), output.cloned());
        if !self.field.with_state(|state| is_replay(state, task)) {
            return Ok(None);
        }
        self.reading(move |harness| harness.drift_at_end(&id, output.as_ref())).await
    }

    /// `POST /v1/tasks/{task_id}/fail`. Where the failure is one that another attempt may not have, and attempts are
    /// left, the Task does not end: it is due again after its pause.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it.
    pub async fn fail_task(
        &self,
        write: &WriteRequest,
        id: &str,
        request: FailTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let FailTaskRequest { code, message, details, retryable } = request;
        let failure = Failure { code, message, details };
        let attempts = self.field.with_state(|state| state.work.attempts(id));
        let command = match attempts.filter(|_| retryable) {
            None => self.failing_command(&view, failure)?,
            Some((policy, failed)) if failed.saturating_add(1) < policy.max_attempts => {
                self.failing_attempt(id, &failure)?
            }
            Some((policy, _)) => {
                let failure = attempts_exhausted(policy.max_attempts, Some(failure));
                self.failing_as(&view, failure, |task, body| HarnAct::Exhaust { task, body })?
            }
        };
        self.write_on(write, &view, "fail", command).await?;
        self.ended_task(&write.caller, id).await
    }

    pub(crate) fn failing_command(
        &self,
        view: &TaskView,
        failure: Failure,
    ) -> Result<HarnCommand, HarnError> {
        self.failing_as(view, failure, |task, body| HarnAct::Fail { task, body })
    }

    /// The write that ends an attempt and not the Task.
    fn failing_attempt(&self, task: &str, failure: &Failure) -> Result<HarnCommand, HarnError> {
        let reason = ReasonBody { reason: format!("{}: {}", failure.code, failure.message) };
        let body = self.field.seal(&reason).map_err(|error| harn_error(&error))?;
        let act = Some(HarnAct::FailAttempt { task: task.to_owned(), body });
        Ok(HarnCommand { act, ..HarnCommand::default() })
    }

    fn failing_as(
        &self,
        view: &TaskView,
        failure: Failure,
        act: impl FnOnce(String, Body) -> HarnAct,
    ) -> Result<HarnCommand, HarnError> {
        let reason = ReasonBody { reason: failure.message.clone() };
        let body = self.field.seal(&reason).map_err(|error| harn_error(&error))?;
        let ending = Ending {
            status: OutcomeStatus::Failed,
            summary: failure.message.clone(),
            parts: Vec::new(),
            output: None,
            artifacts: Vec::new(),
            failure: Some(failure),
        };
        self.ending_command(view, act(view.id.clone(), body), ending)
    }

    /// The write that ends a Task: what is said, its Outcome, and then the act.
    pub(crate) fn ending_command(
        &self,
        view: &TaskView,
        act: HarnAct,
        ending: Ending,
    ) -> Result<HarnCommand, HarnError> {
        let at = rfc3339(self.field.origin().now_ms());
        let owner = view.owner();
        let mut documents = Vec::new();
        let mut messages = Vec::new();
        if !ending.parts.is_empty() {
            let id = self.draw(ResourceKind::Message);
            let message = Message {
                object: MessageObject::Message,
                envelope: ResourceEnvelope::new(&id, &at),
                session_id: view.entry.session.clone(),
                task_id: Some(view.id.clone()),
                role: MessageRole::Agent,
                parts: ending.parts,
            };
            let (kind, owner) = (DocumentKind::Message, owner.clone());
            documents.push(self.draft(kind, &id, owner, Expect::New, &message)?);
            messages.push(message);
        }
        let id = outcome_id(&view.id);
        let mut envelope = ResourceEnvelope::new(&id, &at);
        envelope.metadata.extend(ending.output.map(|output| ("output".to_owned(), output)));
        let outcome = Outcome {
            object: OutcomeObject::Outcome,
            envelope,
            task_id: view.id.clone(),
            status: ending.status,
            summary: ending.summary,
            messages,
            artifacts: ending.artifacts,
            handoffs: Vec::new(),
            receipt_id: None,
            failure: ending.failure,
            cost: JsonObject::default(),
            metrics: JsonObject::default(),
        };
        documents.push(self.draft(DocumentKind::Outcome, &id, owner, Expect::Any, &outcome)?);
        Ok(HarnCommand { act: Some(act), documents, ..HarnCommand::default() })
    }
}

/// A strict replay is not what was recorded, and has failed.
pub(crate) fn drifted(drift: &Drift) -> HarnError {
    let mut error = HarnError::new(HarnErrorCode::Conflict, drift.to_string());
    error.details = drift.failure().details;
    error
}

/// Where the note of a write is.
pub(crate) fn noted_at(outcome: &HarnOutcome) -> Option<EventPosition> {
    let mut events = (0u32..).zip(&outcome.events);
    let (index, _) = events.find(|(_, sealed)| matches!(sealed.event, Logged::TaskNoted { .. }))?;
    Some(EventPosition((outcome.position?, index)))
}
