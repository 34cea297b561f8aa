//! Live clients and inputs of a Session over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    AttachClientRequest, InputsAnswer, InputsCommand, List, LiveClient, LiveClientChange,
    SessionClientRequest,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_live_clients(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<LiveClient>> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.live_clients(&call.caller, &session).await?))
}

pub(super) async fn attach(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<LiveClientChange> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = AttachClientRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.attach_client(&asked, &session, request).await?))
}

pub(super) async fn take_over(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<LiveClientChange> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = SessionClientRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.takeover_session(&asked, &session, request).await?))
}

pub(super) async fn detach(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<LiveClientChange> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = SessionClientRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.detach_client(&asked, &session, request).await?))
}

pub(super) async fn heartbeat(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<LiveClientChange> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = SessionClientRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.heartbeat_client(&asked, &session, request).await?))
}

/// Takes no idempotency key: what it would keep of the body is of secrets.
pub(super) async fn inputs(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<InputsAnswer> {
    let mut call = HarnCall::receive(&app, request).await?;
    let command = InputsCommand::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.session_inputs(&call.caller, &session, command)?))
}
