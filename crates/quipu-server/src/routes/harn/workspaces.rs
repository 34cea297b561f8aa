//! Workspaces over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreateWorkspaceRequest, HarnErrorResponse, List, ResourceKind, TokenScope,
    UpdateWorkspaceRequest, Workspace,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// All Workspaces, the built-in one first.
#[utoipa::path(
    get,
    path = "/v1/workspaces",
    operation_id = "listWorkspaces",
    tag = "harn",
    params(HarnHeaders, ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Workspace>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_workspaces(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Workspace>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Workspace)?;
    Ok(HarnAnswer::ok(call.harness.workspaces(&call.caller, page).await?))
}

/// Makes a Workspace.
#[utoipa::path(
    post,
    path = "/v1/workspaces",
    operation_id = "createWorkspace",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateWorkspaceRequest,
    responses(
        (status = 201, description = "The Workspace.", body = Workspace),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_workspace(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateWorkspaceRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_workspace(&asked, request).await?))
}

/// One Workspace.
#[utoipa::path(
    get,
    path = "/v1/workspaces/{workspace_id}",
    operation_id = "getWorkspace",
    tag = "harn",
    params(HarnHeaders, ("workspace_id" = String, Path)),
    responses(
        (status = 200, description = "The Workspace.", body = Workspace),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_workspace(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.workspace(&call.caller, &workspace).await?))
}

/// Changes a Workspace.
#[utoipa::path(
    patch,
    path = "/v1/workspaces/{workspace_id}",
    operation_id = "updateWorkspace",
    tag = "harn",
    params(HarnHeaders, ("workspace_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = UpdateWorkspaceRequest,
    responses(
        (status = 200, description = "The Workspace as it is now.", body = Workspace),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn update_workspace(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = UpdateWorkspaceRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_workspace(&asked, &workspace, request).await?))
}
