//! What a worker waits for: an answer, or that somebody allows something. The latter is a question of its own,
//! which rules and policy may answer at once.

use quipu_core::{
    DocumentKind,
    event::coordination::ReasonBody,
    rules::harn::{DocumentDraft, Expect, HarnAct, HarnCommand},
};
use quipu_wire::harn::{
    AwaitTaskRequest, AwaitedAnswer, EventKind, HarnError, HarnTask, JsonObject, List,
    PermissionCheckRequest, PermissionDecision, PermissionRequest, PermissionRequestObject,
    PermissionSource, PermissionStatus, ResourceEnvelope, ResourceKind,
};
use serde_json::{Value, json};

use super::audit::audit_of;
use crate::{
    Caller, Harness, NoteBody, WriteRequest,
    handle::{failure::harn_error, page::Page},
    stored::built_in::SESSION_DEFAULT,
    task::tasks::TaskView,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionFilter {
    pub session: Option<String>,
    pub task: Option<String>,
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/await`. Ours.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it.
    pub async fn await_answer(
        &self,
        write: &WriteRequest,
        id: &str,
        request: AwaitTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let command = match request.awaited {
            AwaitedAnswer::Input => HarnCommand {
                act: Some(self.await_act(id, false, request.reason)?),
                ..HarnCommand::default()
            },
            AwaitedAnswer::Auth => self.await_permission(write, &view, request).await?,
        };
        self.write_on(write, &view, "await", command).await?;
        self.task(&write.caller, id).await
    }

    fn await_act(&self, task: &str, auth: bool, reason: String) -> Result<HarnAct, HarnError> {
        let body = self.field.seal(&ReasonBody { reason }).map_err(|error| harn_error(&error))?;
        Ok(HarnAct::Await { task: task.to_owned(), auth, body })
    }

    /// A question. Where a rule or the policy knows the answer, the Task goes on with it.
    pub(super) async fn await_permission(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        request: AwaitTaskRequest,
    ) -> Result<HarnCommand, HarnError> {
        let check = check_of(write, view, &request);
        let question = check.clone();
        let decision = self.reading(move |harness| harness.decide_permission(&question)).await?;
        let (status, event) = match &decision {
            PermissionDecision::Granted { .. } => {
                (PermissionStatus::Approved, EventKind::ToolApproved)
            }
            PermissionDecision::Denied { .. } => (PermissionStatus::Denied, EventKind::ToolDenied),
            PermissionDecision::Suspend { .. } => {
                (PermissionStatus::Pending, EventKind::ToolApprovalRequired)
            }
        };
        let response = match status {
            PermissionStatus::Pending => Value::Null,
            PermissionStatus::Approved | PermissionStatus::Denied => json!({"decision": decision}),
        };
        let draft = self.question_draft(view, &check, status, response)?;
        let mut payload = JsonObject::with("request_id", draft.id.as_str());
        payload.insert("action".to_owned(), check.action.as_str().into());
        payload.insert("target".to_owned(), check.target.as_str().into());
        let note = NoteBody { payload, ..NoteBody::default() };
        let act = if status == PermissionStatus::Pending {
            self.await_act(&view.id, true, request.reason)?
        } else {
            HarnAct::WorkOn { task: view.id.clone() }
        };
        Ok(HarnCommand {
            act: Some(act),
            documents: vec![draft, self.decision_draft(&audit_of(check, &decision))?],
            notes: vec![self.note(&view.id, event.as_str(), &note)?],
            ..HarnCommand::default()
        })
    }

    fn question_draft(
        &self,
        view: &TaskView,
        check: &PermissionCheckRequest,
        status: PermissionStatus,
        response: Value,
    ) -> Result<DocumentDraft, HarnError> {
        let id = self.draw(ResourceKind::PermissionRequest);
        let request = PermissionRequest {
            object: PermissionRequestObject::PermissionRequest,
            envelope: ResourceEnvelope::new(&id, ""),
            session_id: Some(check.session_id.clone()),
            task_id: Some(view.id.clone()),
            status,
            source: PermissionSource::Hitl,
            action: json!({"class": check.class, "action": check.action, "target": check.target}),
            request: json!(check),
            response,
        };
        let kind = DocumentKind::PermissionRequest;
        self.draft(kind, &id, view.owner(), Expect::New, &request)
    }

    /// `GET /v1/permission-requests` and `GET /v1/tasks/{task_id}/permission-requests`.
    ///
    /// # Errors
    /// 404 where there is no such Task.
    pub async fn permission_requests(
        &self,
        caller: &Caller,
        page: Page,
        filter: PermissionFilter,
    ) -> Result<List<PermissionRequest>, HarnError> {
        let same = |asked: &Option<String>, given: &Option<String>| {
            asked.as_ref().is_none_or(|asked| Some(asked) == given.as_ref())
        };
        self.list(caller, page, |entry| {
            same(&filter.session, &entry.owner.session) && same(&filter.task, &entry.owner.task)
        })
        .await
    }
}

/// The question as rules and policy are asked it.
fn check_of(
    write: &WriteRequest,
    view: &TaskView,
    request: &AwaitTaskRequest,
) -> PermissionCheckRequest {
    let session = view.entry.session.clone();
    PermissionCheckRequest {
        id: None,
        tenant_id: None,
        session_id: session.unwrap_or_else(|| SESSION_DEFAULT.to_owned()),
        workspace_id: Some(view.workspace.clone()),
        actor: write.caller.agent.clone(),
        class: request.class,
        action: request.action.clone().unwrap_or_else(|| "proceed".to_owned()),
        target: request.target.clone().unwrap_or_else(|| view.id.clone()),
        risk: None,
        context: request.context.clone(),
        reason: Some(request.reason.clone()),
        requested_at: None,
    }
}
