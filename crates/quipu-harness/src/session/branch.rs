//! Branches: lines of work beside the main one. A Branch belongs to the Session that it leaves and names the
//! one that it leads to.

use quipu_core::{
    DocumentKind,
    rules::harn::{DocumentDraft, Expect, HarnAct, HarnCommand},
};
use quipu_wire::harn::{
    Branch, BranchObject, CreateBranchRequest, HarnError, List, ResourceEnvelope, ResourceKind,
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        page::Page,
        write::{Target, put_by},
    },
    not_found,
    session::{sessions::owner, view::SessionView},
};

impl Harness {
    /// `POST /v1/sessions/{session_id}/branches`.
    ///
    /// # Errors
    /// 404 for a Session, Branch or Task that is not there, 409 where the Session is over.
    pub async fn create_branch(
        &self,
        write: &WriteRequest,
        session: &str,
        request: CreateBranchRequest,
    ) -> Result<Branch, HarnError> {
        let view = self.view_session(&write.caller, session)?;
        if let Some(parent) = &request.parent_branch_id {
            let entry = self.entry(&write.caller, DocumentKind::Branch, parent);
            entry.ok_or_else(|| not_found(ResourceKind::Branch, parent).at("parent_branch_id"))?;
        }
        if let Some(task) = &request.task_id {
            self.view_task(&write.caller, task).map_err(|error| error.at("task_id"))?;
        }
        let draft = self.branch_draft(&write.caller, &view, session, request)?;
        let id = draft.id.clone();
        let command = HarnCommand {
            act: Some(HarnAct::EnterSession { session: session.to_owned() }),
            documents: vec![draft],
            ..HarnCommand::default()
        };
        let path = format!("/v1/sessions/{session}/branches");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        let outcome = self.write(write, target, Some(session), command).await?;
        self.get(&write.caller, put_by(&outcome, DocumentKind::Branch).unwrap_or(&id)).await
    }

    /// `GET /v1/branches/{branch_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn branch(&self, caller: &Caller, id: &str) -> Result<Branch, HarnError> {
        self.get(caller, id).await
    }

    /// `GET /v1/sessions/{session_id}/branches`.
    ///
    /// # Errors
    /// 404 where there is no such Session.
    pub async fn branches(
        &self,
        caller: &Caller,
        session: &str,
        page: Page,
    ) -> Result<List<Branch>, HarnError> {
        self.check_session(caller, session)?;
        let of = |owner: &Option<String>| owner.as_deref() == Some(session);
        self.list(caller, page, |entry| of(&entry.owner.session)).await
    }

    /// A Branch of a Session that leads to another, or to the same.
    pub(crate) fn branch_draft(
        &self,
        caller: &Caller,
        view: &SessionView,
        leads_to: &str,
        request: CreateBranchRequest,
    ) -> Result<DocumentDraft, HarnError> {
        let id = self.draw(ResourceKind::Branch);
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = request.metadata;
        let branch = Branch {
            object: BranchObject::Branch,
            envelope,
            workspace_id: view.workspace.clone(),
            kind: request.kind,
            base_ref: request.base_ref,
            parent_branch_id: request.parent_branch_id,
            session_id: Some(leads_to.to_owned()),
            task_id: request.task_id,
            worktree_uri: None,
            created_by: Some(caller.agent.clone()),
            merged_into: None,
        };
        let owner = owner(&view.workspace, &view.id);
        self.draft(DocumentKind::Branch, &id, owner, Expect::New, &branch)
    }
}
