//! Branches over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{Branch, CreateBranchRequest, List, ResourceKind};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_session_branches(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Branch>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Branch)?;
    Ok(HarnAnswer::ok(call.harness.branches(&call.caller, &session, page).await?))
}

pub(super) async fn create_session_branch(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Branch> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateBranchRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_branch(&asked, &session, request).await?))
}

pub(super) async fn get_branch(
    State(app): State<Arc<App>>,
    HarnPath(branch): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Branch> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.branch(&call.caller, &branch).await?))
}
