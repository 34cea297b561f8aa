//! Replay over HTTP: of a Task, of a Session, answer by answer for a worker, and what differs afterwards. All but
//! the first are ours beside the protocol.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    Divergence, HarnError, HarnErrorCode, HarnErrorResponse, HarnSession, HarnTask,
    ReplaySessionRequest, ReplayTaskRequest, ResolveDependencyRequest, ResolvedDependency,
    TaskExport, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// Replays a finished Task: exactly, with answers changed, or from a checkpoint. Nobody is ever asked live.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/replay",
    operation_id = "replayTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Option<ReplayTaskRequest>,
    responses(
        (status = 202, description = "The replay, a Task of its own.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn replay_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = ReplayTaskRequest::parse(call.body.take())?;
    Ok(HarnAnswer::accepted(call.harness.replay_task(&asked, &task, request).await?))
}

/// Forks a Session and replays every Task of it there, exactly and in the order of their making.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/replay",
    operation_id = "replaySession",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Option<ReplaySessionRequest>,
    responses(
        (status = 202, description = "The fork, with the replays in it.", body = HarnSession),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn replay_session(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnSession> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = ReplaySessionRequest::parse(call.body.take())?;
    Ok(HarnAnswer::accepted(call.harness.replay_session(&asked, &session, request).await?))
}

/// Gives a worker that replays a Task the recorded or substituted answer under a key. What is missing fails the
/// replay, and is named in `details`.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/dependencies/resolve",
    operation_id = "resolveTaskDependency",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path)),
    request_body = ResolveDependencyRequest,
    responses(
        (status = 200, description = "The answer.", body = ResolvedDependency),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn resolve_dependency(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<ResolvedDependency> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = ResolveDependencyRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.resolve_dependency(&asked, &task, request).await?))
}

/// Compares a replay with its source: the first event that differs, the answers that were changed, what came of
/// both.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task_id}/divergence",
    operation_id = "getTaskDivergence",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path)),
    responses(
        (status = 200, description = "What differs.", body = Divergence),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn divergence(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Divergence> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.divergence(&call.caller, &task).await?))
}

/// A finished Task as one document, for another server. Needs authority 8.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task_id}/export",
    operation_id = "exportTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path)),
    responses(
        (status = 200, description = "The Task.", body = TaskExport),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn export_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<TaskExport> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.export_task(&call.caller, &task).await?))
}

/// Brings a finished Task here from another server, with the ids and times that it had there. Needs authority 8.
#[utoipa::path(
    post,
    path = "/v1/tasks/import",
    operation_id = "importTask",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = TaskExport,
    responses(
        (status = 201, description = "The Task.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn import_task(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let export = serde_json::from_value::<TaskExport>(call.body.take().unwrap_or_default());
    let export = export.map_err(|error| {
        HarnError::new(HarnErrorCode::InvalidRequest, format!("body: {error}")).at("body")
    })?;
    Ok(HarnAnswer::created(call.harness.import_task(&asked, export).await?))
}
