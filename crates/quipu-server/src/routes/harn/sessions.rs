//! Sessions over HTTP: open, read, change, close, fork, truncate.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreateSessionRequest, ForkSessionRequest, HarnSession, List, ResourceKind,
    TruncateSessionRequest, TruncateSessionResponse, UpdateSessionRequest,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_sessions(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<HarnSession>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Session)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.sessions(&call.caller, page, workspace).await?))
}

pub(super) async fn create_session(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_session(&asked, request).await?))
}

pub(super) async fn get_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.session(&call.caller, &session).await?))
}

pub(super) async fn update_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = UpdateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_session(&asked, &session, request).await?))
}

pub(super) async fn close_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    Ok(HarnAnswer::ok(call.harness.close_session(&asked, &session).await?))
}

pub(super) async fn join_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    Ok(HarnAnswer::ok(call.harness.join_session(&asked, &session).await?))
}

pub(super) async fn fork_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ForkSessionRequest::parse(call.body.take())?;
    Ok(HarnAnswer::created(call.harness.fork_session(&asked, &session, request).await?))
}

pub(super) async fn truncate_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<TruncateSessionResponse> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = TruncateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.truncate_session(&asked, &session, request).await?))
}
