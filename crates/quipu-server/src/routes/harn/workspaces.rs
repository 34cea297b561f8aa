//! Workspaces over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreateWorkspaceRequest, List, ResourceKind, UpdateWorkspaceRequest, Workspace,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_workspaces(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Workspace>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Workspace)?;
    Ok(HarnAnswer::ok(call.harness.workspaces(&call.caller, page).await?))
}

pub(super) async fn create_workspace(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateWorkspaceRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_workspace(&asked, request).await?))
}

pub(super) async fn get_workspace(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.workspace(&call.caller, &workspace).await?))
}

pub(super) async fn update_workspace(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Workspace> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = UpdateWorkspaceRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_workspace(&asked, &workspace, request).await?))
}
