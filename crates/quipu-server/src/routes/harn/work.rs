//! Working on a Task over HTTP. Ours beside the protocol: an Akashik agent does the same by COORDINATE.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use quipu_wire::harn::{
    AppendEventRequest, Artifact, ClaimNextRequest, ClaimTaskRequest, CompleteTaskRequest,
    DependencyEntry, Event, FailTaskRequest, HarnTask, HeartbeatRequest, LeaseResource, List,
    RecordCheckpointRequest, RecordDependencyRequest, RecordedDependencyResource,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

pub(super) async fn claim_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ClaimTaskRequest::parse(call.body.take())?;
    let asked = call.speak_as(&app, asked, request.agent_id.as_deref())?;
    Ok(HarnAnswer::ok(call.harness.claim_task(&asked, &task, &request).await?))
}

pub(super) async fn claim_next(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = ClaimNextRequest::parse(call.body.take().unwrap_or_default())?;
    let asked = call.speak_as(&app, asked, request.agent_id.as_deref())?;
    Ok(match call.harness.claim_next(&asked, &request).await? {
        Some(task) => HarnAnswer::ok(task).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

pub(super) async fn heartbeat(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<LeaseResource> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = HeartbeatRequest::parse(call.body.take())?;
    let asked = call.speak_as(&app, asked, request.agent_id.as_deref())?;
    Ok(HarnAnswer::ok(call.harness.heartbeat(&asked, &task, &request).await?))
}

pub(super) async fn list_dependencies(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<DependencyEntry>> {
    let call = HarnCall::receive(&app, request).await?;
    let (after, limit) = (call.query.get("after_key"), call.query.limit()?);
    Ok(HarnAnswer::ok(call.harness.dependencies(&call.caller, &task, after, limit).await?))
}

pub(super) async fn append_event(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Event> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = AppendEventRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_event(&asked, &task, request).await?))
}

pub(super) async fn complete_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CompleteTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.complete_task(&asked, &task, request).await?))
}

pub(super) async fn fail_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = FailTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.fail_task(&asked, &task, request).await?))
}

pub(super) async fn record_dependency(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<RecordedDependencyResource> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = RecordDependencyRequest::parse(call.body.take().unwrap_or_default())?;
    let recorded = call.harness.record_dependency(&asked, &task, request).await?;
    let answer = if recorded.again { HarnAnswer::ok } else { HarnAnswer::created };
    Ok(answer(recorded.dependency))
}

pub(super) async fn record_checkpoint(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = RecordCheckpointRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.record_checkpoint(&asked, &task, request).await?))
}
