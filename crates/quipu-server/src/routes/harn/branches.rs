//! Branches over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    Branch, CreateBranchRequest, HarnErrorResponse, List, ResourceKind, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// The Branches that leave a Session.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/branches",
    operation_id = "listSessionBranches",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Branch>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_session_branches(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Branch>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Branch)?;
    Ok(HarnAnswer::ok(call.harness.branches(&call.caller, &session, page).await?))
}

/// Makes a Branch.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/branches",
    operation_id = "createSessionBranch",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateBranchRequest,
    responses(
        (status = 201, description = "The Branch.", body = Branch),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_session_branch(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Branch> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateBranchRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_branch(&asked, &session, request).await?))
}

/// One Branch.
#[utoipa::path(
    get,
    path = "/v1/branches/{branch_id}",
    operation_id = "getBranch",
    tag = "harn",
    params(HarnHeaders, ("branch_id" = String, Path)),
    responses(
        (status = 200, description = "The Branch.", body = Branch),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_branch(
    State(app): State<Arc<App>>,
    HarnPath(branch): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Branch> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.branch(&call.caller, &branch).await?))
}
