//! The answer to a question whether something may be done. The Task that waits goes on, whatever the answer.

use quipu_core::{
    DocumentKind,
    rules::harn::{Expect, HarnAct, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        AuditEntry, AuditOutcome, EventKind, HarnError, HarnErrorCode, JsonObject, MessageInput,
        Part, PermissionCheckRequest, PermissionRequest, PermissionResponseRequest, PermissionRisk,
        PermissionStatus, RememberRule, ResourceKind, RuleScope,
    },
};
use serde_json::{Value, json};

use super::{pattern::exactly, policy::with_version};
use crate::{
    Harness, NoteBody, WriteRequest,
    handle::{
        caller::AUTHORITY_POLICY,
        retry::{WriteError, retry_until_unchanged},
        write::Target,
    },
    not_found,
    stored::built_in::SESSION_DEFAULT,
    task::tasks::{TaskView, has_ended},
};

impl Harness {
    /// `POST /v1/permission-requests/{request_id}/respond`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of, 403 for whoever asked, 409 where it was answered
    /// or its Task has ended.
    pub async fn respond_permission(
        &self,
        write: &WriteRequest,
        id: &str,
        answer: PermissionResponseRequest,
    ) -> Result<PermissionRequest, HarnError> {
        retry_until_unchanged(|| self.respond_once(write, id, answer.clone())).await
    }

    async fn respond_once(
        &self,
        write: &WriteRequest,
        id: &str,
        answer: PermissionResponseRequest,
    ) -> Result<PermissionRequest, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let kind = DocumentKind::PermissionRequest;
        let missing = || not_found(ResourceKind::PermissionRequest, id);
        let entry = self.entry(&write.caller, kind, id).ok_or_else(missing)?;
        let view =
            self.view_task(&write.caller, entry.owner.task.as_deref().unwrap_or_default())?;
        let path = format!("/v1/permission-requests/{id}/respond");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        let request: PermissionRequest = self.get(&write.caller, id).await?;
        if !self.key_was_used(write, target) {
            may_answer(write, &entry, &request, &view, &answer)?;
        }
        let command = self.answer_command(write, &view, entry, request, answer).await?;
        let command = HarnCommand { read_at, ..command };
        self.write(write, target, view.entry.session.as_deref(), command).await?;
        Ok(self.get(&write.caller, id).await?)
    }

    /// The answer that a `tool_confirmation` is to what a Task asked; nothing where it asked nothing.
    ///
    /// # Errors
    /// 403 for whoever asked.
    pub(crate) async fn confirm(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        message: &MessageInput,
    ) -> Result<Option<HarnCommand>, HarnError> {
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            let questions = state.documents.of_task(DocumentKind::PermissionRequest, &view.id);
            questions.rev().map(|(_, entry)| entry.clone()).collect()
        });
        let pending = self.reading(move |harness| {
            for entry in entries {
                let request = harness.load::<PermissionRequest>(&entry)?;
                if request.status == PermissionStatus::Pending {
                    return Ok(Some((entry, request)));
                }
            }
            Ok(None)
        });
        let Some((entry, request)) = pending.await? else { return Ok(None) };
        let answer = PermissionResponseRequest { approved: confirms(message), ..no_answer() };
        may_answer(write, &entry, &request, view, &answer)?;
        self.answer_command(write, view, entry, request, answer).await.map(Some)
    }

    async fn answer_command(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        entry: DocumentEntry,
        mut request: PermissionRequest,
        answer: PermissionResponseRequest,
    ) -> Result<HarnCommand, HarnError> {
        let check = serde_json::from_value::<PermissionCheckRequest>(request.request.clone());
        let check = check.map_err(|_| {
            HarnError::new(HarnErrorCode::InternalError, "the question could not be read")
        })?;
        let (status, event) = if answer.approved {
            (PermissionStatus::Approved, EventKind::ToolApproved)
        } else {
            (PermissionStatus::Denied, EventKind::ToolDenied)
        };
        request.status = status;
        request.response = json!({
            "approved": answer.approved,
            "answer": answer.answer,
            "answered_by": write.caller.agent,
            "reviewer": answer.reviewer.as_ref().unwrap_or(&write.caller.agent),
            "reason": answer.reason,
            "metadata": answer.metadata,
        });
        let mut payload = JsonObject::with("request_id", entry.id.as_str());
        payload.extend(answer.reason.clone().map(|reason| ("reason".to_owned(), reason.into())));
        // A note of the answer's: whoever answered is the Event's actor.
        let named = answer.reviewer.clone();
        payload.extend(named.map(|reviewer| ("reviewer".to_owned(), reviewer.into())));
        let note = NoteBody { payload, ..NoteBody::default() };
        let policy = self.reading(|harness| with_version(harness.load_policy()?)).await?;
        let audit = audit(write, &check, &answer, policy.version);
        let kind = DocumentKind::PermissionRequest;
        let mut documents = vec![
            self.draft(kind, &entry.id, entry.owner, Expect::Known, &request)?,
            self.decision_draft(&audit)?,
        ];
        if answer.remember {
            documents.push(self.rule_draft(&write.caller, rule_of(&check, answer))?);
        }
        Ok(HarnCommand {
            act: Some(act_of(view)),
            documents,
            notes: vec![self.note(&view.id, event.as_str(), &note)?],
            ..HarnCommand::default()
        })
    }
}

/// A confirmation says yes, unless a part of it says `approved: false`.
fn confirms(message: &MessageInput) -> bool {
    !message.parts.iter().any(|part| {
        let Part::Json { value, .. } = part else { return false };
        value.get("approved") == Some(&Value::Bool(false))
    })
}

/// An answer that says no and nothing more.
fn no_answer() -> PermissionResponseRequest {
    PermissionResponseRequest {
        approved: false,
        answer: None,
        reviewer: None,
        reason: None,
        metadata: JsonObject::default(),
        remember: false,
        scope: None,
        expires_at: None,
        action_pattern: None,
        target_pattern: None,
        class: None,
    }
}

fn may_answer(
    write: &WriteRequest,
    entry: &DocumentEntry,
    request: &PermissionRequest,
    view: &TaskView,
    answer: &PermissionResponseRequest,
) -> Result<(), HarnError> {
    if request.status != PermissionStatus::Pending {
        let message = format!("permission request {} was answered before", entry.id);
        return Err(HarnError::new(HarnErrorCode::Conflict, message));
    }
    if view.status.is_terminal() {
        return Err(has_ended(&view.id));
    }
    // Whoever asks does not decide, a key for any agent may have asked under another name, and what holds for all is for
    // those who set policies.
    let may_have_asked = entry.created_by == write.caller.agent || !write.caller.own_key;
    if answer.remember || may_have_asked {
        write.caller.require(AUTHORITY_POLICY)?;
    }
    Ok(())
}

fn act_of(view: &TaskView) -> HarnAct {
    if view.entry.status == TaskStatus::Blocked && view.entry.awaits_auth {
        return HarnAct::Resume { task: view.id.clone() };
    }
    let session = view.entry.session.clone();
    HarnAct::EnterSession { session: session.unwrap_or_else(|| SESSION_DEFAULT.to_owned()) }
}

fn audit(
    write: &WriteRequest,
    check: &PermissionCheckRequest,
    answer: &PermissionResponseRequest,
    policy_version: String,
) -> AuditEntry {
    let outcome = if answer.approved { AuditOutcome::Granted } else { AuditOutcome::Denied };
    AuditEntry {
        request: check.clone(),
        outcome,
        scope: answer.scope.filter(|_| answer.remember),
        policy_version,
        risk: check.risk.unwrap_or(PermissionRisk::Medium),
        rule_id: None,
        reason: answer.reason.clone(),
        decided_at: String::new(),
        decided_by: Some(write.caller.agent.clone()),
    }
}

/// The rule that remembers an answer: of just this action and target unless it says more.
fn rule_of(check: &PermissionCheckRequest, answer: PermissionResponseRequest) -> RememberRule {
    let scope = answer.scope.unwrap_or(RuleScope::Session);
    let scope_value = match scope {
        RuleScope::Session => Some(check.session_id.clone()),
        RuleScope::Workspace => check.workspace_id.clone(),
        RuleScope::User => Some(check.actor.clone()),
        RuleScope::Always => None,
    };
    RememberRule {
        id: String::new(),
        tenant_id: check.tenant_id.clone(),
        scope,
        scope_value,
        class: answer.class.unwrap_or(check.class),
        action_pattern: answer.action_pattern.unwrap_or_else(|| exactly(&check.action)),
        target_pattern: answer.target_pattern.unwrap_or_else(|| exactly(&check.target)),
        allow: answer.approved,
        reason: answer.reason,
        created_at: String::new(),
        created_by: String::new(),
        expires_at: answer.expires_at,
        revoked_at: None,
    }
}
