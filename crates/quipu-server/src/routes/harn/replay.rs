//! Replay over HTTP: of a Task, of a Session, answer by answer for a worker, and what differs afterwards. All but
//! the first are ours beside the protocol.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_replay::receipt::read_export;
use quipu_wire::harn::{
    Divergence, HarnError, HarnErrorCode, HarnSession, HarnTask, ReplaySessionRequest,
    ReplayTaskRequest, ResolveAnswer, ResolveDependencyRequest, TaskExport,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn replay_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ReplayTaskRequest::parse(call.body.take())?;
    Ok(HarnAnswer::accepted(call.harness.replay_task(&asked, &task, request).await?))
}

pub(super) async fn replay_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ReplaySessionRequest::parse(call.body.take())?;
    Ok(HarnAnswer::accepted(call.harness.replay_session(&asked, &session, request).await?))
}

pub(super) async fn resolve_dependency(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<ResolveAnswer> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ResolveDependencyRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.resolve(&asked, &task, request).await?))
}

pub(super) async fn divergence(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Divergence> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.divergence(&call.caller, &task).await?))
}

pub(super) async fn export_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<TaskExport> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.export_task(&call.caller, &task).await?))
}

pub(super) async fn import_task(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let export = read_export(&call.body.take().unwrap_or_default()).map_err(|refused| {
        HarnError::new(HarnErrorCode::InvalidRequest, refused.to_string()).at(&refused.place)
    })?;
    Ok(HarnAnswer::created(call.harness.import_task(&asked, export).await?))
}
