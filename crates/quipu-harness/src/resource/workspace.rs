//! Workspaces: boundaries within which resources belong together.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{Expect, HarnCommand},
};
use quipu_wire::harn::{
    CreateWorkspaceRequest, HarnError, List, ResourceEnvelope, ResourceKind,
    UpdateWorkspaceRequest, Workspace, WorkspaceObject,
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        page::Page,
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
    resource::built_in_resources,
    stored::built_in::WORKSPACE_DEFAULT,
};

impl Harness {
    /// `POST /v1/workspaces`.
    ///
    /// # Errors
    /// 403 below authority 8.
    pub async fn create_workspace(
        &self,
        write: &WriteRequest,
        request: CreateWorkspaceRequest,
    ) -> Result<Workspace, HarnError> {
        let id = self.draw(ResourceKind::Workspace);
        self.check_policy_object(&write.caller, DocumentKind::Workspace, &id)?;
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = request.metadata;
        let workspace = Workspace {
            object: WorkspaceObject::Workspace,
            envelope,
            name: request.name,
            root: request.root,
            default_branch_id: None,
            host: None,
            repository: None,
            tenant_id: None,
            capabilities: Vec::new(),
            connectors: Vec::new(),
            quota_id: None,
        };
        let owner = DocumentOwner::default();
        let kind = DocumentKind::Workspace;
        let command = HarnCommand {
            documents: vec![self.draft(kind, &id, owner, Expect::New, &workspace)?],
            ..HarnCommand::default()
        };
        let outcome = self.write(write, Target::post("/v1/workspaces"), None, command).await?;
        let id = put_by(&outcome, kind).unwrap_or(&id).to_owned();
        self.get(&write.caller, &id).await
    }

    /// `GET /v1/workspaces/{workspace_id}`.
    pub async fn workspace(&self, caller: &Caller, id: &str) -> Result<Workspace, HarnError> {
        if id == WORKSPACE_DEFAULT {
            return Ok(built_in_resources::workspace());
        }
        self.get(caller, id).await
    }

    /// `GET /v1/workspaces`.
    pub async fn workspaces(
        &self,
        caller: &Caller,
        page: Page,
    ) -> Result<List<Workspace>, HarnError> {
        self.list_behind(caller, page, vec![built_in_resources::workspace()], |_| true).await
    }

    /// `PATCH /v1/workspaces/{workspace_id}`.
    ///
    /// # Errors
    /// 404 where there is none, or no such Quota; 422 for the built-in one; 403 for who may not change it, or the
    /// Quota that it is under.
    pub async fn update_workspace(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateWorkspaceRequest,
    ) -> Result<Workspace, HarnError> {
        retry_until_unchanged(|| self.change_workspace(write, id, request.clone())).await
    }

    async fn change_workspace(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateWorkspaceRequest,
    ) -> Result<Workspace, WriteError> {
        let kind = DocumentKind::Workspace;
        if id == WORKSPACE_DEFAULT {
            return Err(built_in_resources::unchangeable(ResourceKind::Workspace, id).into());
        }
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        self.check_policy_object(&write.caller, kind, id)?;
        self.check_quota_named(&request.quota_id)?;
        let entry = self.entry(&write.caller, kind, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Workspace, id))?;
        let mut workspace: Workspace = self.get(&write.caller, id).await?;
        self.check_quota_left(&write.caller, workspace.quota_id.as_deref(), &request.quota_id)?;
        if let Some(name) = request.name {
            workspace.name = name;
        }
        if let Some(capabilities) = request.capabilities {
            workspace.capabilities = capabilities;
        }
        workspace.quota_id = request.quota_id.apply(workspace.quota_id);
        if let Some(metadata) = request.metadata {
            workspace.envelope.metadata = metadata;
        }
        let path = format!("/v1/workspaces/{id}");
        let target = Target { workspace: id, method: "PATCH", path: &path };
        let command = HarnCommand {
            documents: vec![self.draft(kind, id, entry.owner, Expect::Known, &workspace)?],
            read_at,
            ..HarnCommand::default()
        };
        self.write(write, target, None, command).await?;
        Ok(self.get(&write.caller, id).await?)
    }

    pub(crate) fn check_workspace(&self, id: &str) -> Result<(), HarnError> {
        let kept = || {
            self.field
                .with_state(|state| state.documents.get(DocumentKind::Workspace, id).is_some())
        };
        if id == WORKSPACE_DEFAULT || kept() {
            return Ok(());
        }
        Err(not_found(ResourceKind::Workspace, id).at("workspace_id"))
    }
}
