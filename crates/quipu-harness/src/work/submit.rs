//! Submitting and canceling Tasks. A Task is durable before it is answered for; the Field's own, a module's
//! among them, are begun in the same commit, so that nobody sees one that skips from submitted to completed.

use quipu_core::{
    DocumentKind, DocumentOwner,
    event::coordination::{ReasonBody, TaskBody},
    rules::harn::{Expect, HarnAct, HarnCommand},
};
use quipu_wire::harn::{
    CancelTaskRequest, EventKind, HarnError, HarnErrorCode, HarnTask, JsonObject, QuotaUnit,
    ResourceKind, Sha256, SubmitTaskRequest, TaskInput, TaskState, Visibility,
};

use crate::{
    Caller, Harness, NoteBody, WriteRequest,
    handle::{
        failure::harn_error,
        retry::WriteError,
        write::{Target, put_by},
    },
    not_found,
    stored::{
        built_in::{PERSONA_FIELD, PERSONA_WORKER, is_for_field, session_in_field},
        session_facts::SessionFacts,
    },
    task::{installed_module::Installed, tasks::blank},
    visibility::{access::workspace_of, parts},
    work::terms::terms_of,
};

/// The longest title that COORDINATE has for a Task.
const TITLE_CHARS_MAX: usize = 120;

#[derive(Debug, Clone)]
pub struct Submitted {
    pub task: HarnTask,
    /// Whether it was there before: its idempotency key was used again.
    pub reused: bool,
}

impl Harness {
    /// `POST /v1/tasks` and `POST /v1/sessions/{session_id}/tasks`, which share their idempotency keys.
    ///
    /// # Errors
    /// 404 for what the request names and the caller may not know of, 409 for a key used otherwise.
    pub async fn submit_task(
        &self,
        write: &WriteRequest,
        request: SubmitTaskRequest,
    ) -> Result<Submitted, HarnError> {
        Ok(self.submit_with(write, request, |_| Ok(HarnCommand::default())).await?)
    }

    /// Submits a Task with more documents and notes in the same commit.
    pub(crate) async fn submit_with(
        &self,
        write: &WriteRequest,
        request: SubmitTaskRequest,
        more: impl FnOnce(&str) -> Result<HarnCommand, HarnError> + Send,
    ) -> Result<Submitted, WriteError> {
        let session_id = request.session_id.clone();
        let workspace = self.workspace_for_task(&write.caller, &request)?;
        let write = WriteRequest { digest: digest_of(&request)?, ..write.clone() };
        let persona = self.persona_for_task(&write.caller, &request).await?;
        self.check_references(&write.caller, &request)?;
        let path = format!("/v1/sessions/{session_id}/tasks");
        let target = Target { workspace: &workspace, method: "POST", path: &path };
        let session = session_in_field(&session_id);
        if let Some(outcome) = self.done_before(&write, target, session).await? {
            let first = put_by(&outcome, DocumentKind::Task).unwrap_or_default();
            return Ok(Submitted { task: self.task(&write.caller, first).await?, reused: true });
        }
        let turn = self.check_quotas(persona.as_deref(), &workspace, QuotaUnit::Tasks).await?;
        let module = self.module_of_persona(persona.as_deref()).await?;
        let terms = terms_of(&request.metadata, request.parent_task_id.as_deref())?;
        let by_field = module.is_some() || is_for_field(persona.as_deref());
        let id = self.draw(ResourceKind::Task);
        let title = title_of(&request.input);
        let mut task = blank(&id, request.input);
        task.envelope.metadata = request.metadata;
        task.persona_id = persona;
        task.branch_id = request.branch_id;
        task.parent_task_id = request.parent_task_id;
        let owner = DocumentOwner {
            workspace: Some(workspace.clone()),
            session: session.map(str::to_owned),
            task: Some(id.clone()),
            persona: task.persona_id.clone(),
        };
        let purpose = format!("submitted to {session_id}");
        let body = TaskBody { title, purpose, question: None };
        let body = self.field.seal(&body).map_err(|error| harn_error(&error))?;
        let mut command = more(&id)?;
        command.act = Some(HarnAct::SubmitTask { task: id.clone(), by_field, terms, body });
        if let Some(module) = &module {
            let owner = DocumentOwner { persona: None, ..owner.clone() };
            self.keep_module(&id, owner, module, &mut command)?;
        }
        let document = self.draft(DocumentKind::Task, &id, owner, Expect::New, &task)?;
        command.documents.insert(0, document);
        let outcome = self.write(&write, target, session, command).await?;
        drop(turn);
        let first = put_by(&outcome, DocumentKind::Task).unwrap_or(&id);
        let reused = first != id;
        Ok(Submitted { task: self.task(&write.caller, first).await?, reused })
    }

    /// `POST /v1/tasks/{task_id}/cancel`. Canceling again changes nothing and says the same.
    ///
    /// # Errors
    /// 404 where there is none, 403 where it is another's, 409 where it was completed or has failed.
    pub async fn cancel_task(
        &self,
        write: &WriteRequest,
        id: &str,
        request: CancelTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let seal = |reason: &String| self.field.seal(&ReasonBody { reason: reason.clone() });
        let body = request.reason.as_ref().map(seal).transpose();
        let body = body.map_err(|error| harn_error(&error))?;
        let mut payload = JsonObject::default();
        payload.extend(request.reason.map(|reason| ("reason".to_owned(), reason.into())));
        let note = NoteBody { payload, ..NoteBody::default() };
        let command = HarnCommand {
            act: Some(HarnAct::Cancel { task: id.to_owned(), body }),
            notes: vec![self.note(id, EventKind::UserCancelRequested.as_str(), &note)?],
            ..HarnCommand::default()
        };
        let path = format!("/v1/tasks/{id}/cancel");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        let session = view.entry.session.as_deref();
        if let Err(error) = self.write(write, target, session, command).await {
            self.settle(id).await?;
            let now = self.view_task(&write.caller, id)?;
            let again = now.status == TaskState::Canceled && error.stands_at(id).is_some();
            if !again {
                return Err(error.into());
            }
        }
        self.ended_task(&write.caller, id).await
    }

    /// A Task that has just ended, once its receipt is issued.
    pub(crate) async fn ended_task(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<HarnTask, HarnError> {
        self.settle(id).await?;
        self.task(caller, id).await
    }

    fn workspace_for_task(
        &self,
        caller: &Caller,
        request: &SubmitTaskRequest,
    ) -> Result<String, HarnError> {
        let id = request.session_id.as_str();
        self.check_session_visible(caller, id).map_err(|error| error.at("session_id"))?;
        let found = self.field.with_state(|state| workspace_of(state, session_in_field(id)));
        if request.workspace_id.as_ref().is_some_and(|asked| *asked != found) {
            let message = "workspace_id: must be the Workspace of the Session";
            let error = HarnError::new(HarnErrorCode::InvalidRequest, message);
            return Err(error.at("workspace_id"));
        }
        Ok(found)
    }

    /// The Persona of a Task: the one that it names, or else its Session's.
    async fn persona_for_task(
        &self,
        caller: &Caller,
        request: &SubmitTaskRequest,
    ) -> Result<Option<String>, HarnError> {
        let named = match &request.persona_id {
            Some(id) => Some(id.clone()),
            None => self.persona_of_session(&request.session_id).await?,
        };
        let Some(id) = named else { return Ok(None) };
        if is_for_field(Some(&id)) {
            return Ok(Some(PERSONA_FIELD.to_owned()));
        }
        if id == PERSONA_WORKER {
            return Ok(Some(id));
        }
        let missing = || not_found(ResourceKind::Persona, &id).at("persona_id");
        self.entry(caller, DocumentKind::Persona, &id).ok_or_else(missing)?;
        Ok(Some(id))
    }

    async fn persona_of_session(&self, session: &str) -> Result<Option<String>, HarnError> {
        let entry = |state: &quipu_core::State| {
            state.documents.get(DocumentKind::Session, session).map(|entry| entry.at)
        };
        let Some(place) = self.field.with_state(entry) else { return Ok(None) };
        self.reading(move |harness| {
            let body = harness.field.body_at::<SessionFacts>(place);
            let body = body.map_err(|error| harn_error(&error))?;
            Ok(body.and_then(|body| body.persona_id))
        })
        .await
    }

    async fn module_of_persona(&self, id: Option<&str>) -> Result<Option<Installed>, HarnError> {
        Ok(self.persona_named(id).await?.as_ref().and_then(Installed::of))
    }

    fn check_references(
        &self,
        caller: &Caller,
        request: &SubmitTaskRequest,
    ) -> Result<(), HarnError> {
        if let Some(id) = &request.branch_id
            && self.entry(caller, DocumentKind::Branch, id).is_none()
        {
            return Err(not_found(ResourceKind::Branch, id).at("branch_id"));
        }
        if let Some(id) = &request.parent_task_id {
            self.view_task(caller, id).map_err(|error| error.at("parent_task_id"))?;
        }
        Ok(())
    }
}

/// The digest by which two submissions are the same, whichever path they came by.
fn digest_of(request: &SubmitTaskRequest) -> Result<Sha256, HarnError> {
    let refused = |text: String| HarnError::new(HarnErrorCode::InvalidRequest, text);
    let value = serde_json::to_value(request).map_err(|error| refused(error.to_string()))?;
    Sha256::of_json(&value).map_err(|error| refused(error.to_string()))
}

/// What COORDINATE calls a Task: the beginning of what everybody may see of it.
fn title_of(input: &TaskInput) -> String {
    let text = parts::text_of(input, |visibility| visibility == Visibility::Public);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("a task");
    line.chars().take(TITLE_CHARS_MAX).collect()
}
