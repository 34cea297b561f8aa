//! Sessions over HTTP: open, read, change, close, fork, truncate.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreateSessionRequest, ForkSessionRequest, HarnErrorResponse, HarnSession, List, ResourceKind,
    TokenScope, TruncateSessionRequest, TruncateSessionResponse, UpdateSessionRequest,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// The Sessions that the caller may know of, in the order of their opening.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "listSessions",
    tag = "harn",
    params(HarnHeaders, ("workspace_id" = Option<String>, Query), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<HarnSession>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_sessions(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<HarnSession>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Session)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.sessions(&call.caller, page, workspace).await?))
}

/// Opens a Session.
#[utoipa::path(
    post,
    path = "/v1/sessions",
    operation_id = "createSession",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateSessionRequest,
    responses(
        (status = 201, description = "The Session.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_session(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_session(&asked, request).await?))
}

/// One Session.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}",
    operation_id = "getSession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path)),
    responses(
        (status = 200, description = "The Session.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.session(&call.caller, &session).await?))
}

/// Changes a Session.
#[utoipa::path(
    patch,
    path = "/v1/sessions/{session_id}",
    operation_id = "updateSession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = UpdateSessionRequest,
    responses(
        (status = 200, description = "The Session as it is now.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn update_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = UpdateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_session(&asked, &session, request).await?))
}

/// Ends a Session, and cancels what is open in it. Closing again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/close",
    operation_id = "closeSession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses(
        (status = 200, description = "The Session as it is now.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn close_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    Ok(HarnAnswer::ok(call.harness.close_session(&asked, &session).await?))
}

/// Opens a Session that shares what happened in this one, up to an Event.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/fork",
    operation_id = "forkSession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Option<ForkSessionRequest>,
    responses(
        (status = 201, description = "The new Session.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn fork_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = ForkSessionRequest::parse(call.body.take())?;
    Ok(HarnAnswer::created(call.harness.fork_session(&asked, &session, request).await?))
}

/// Cuts the end off the transcript. The log keeps what was said.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/truncate",
    operation_id = "truncateSession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = TruncateSessionRequest,
    responses(
        (status = 200, description = "What is left.", body = TruncateSessionResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn truncate_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<TruncateSessionResponse> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = TruncateSessionRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.truncate_session(&asked, &session, request).await?))
}
