//! Working on a Task over HTTP. Ours beside the protocol: an Akashik agent does the same by COORDINATE.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::WriteRequest;
use quipu_wire::harn::{
    AppendEventRequest, Artifact, ClaimTaskRequest, CompleteTaskRequest, Event, FailTaskRequest,
    HarnError, HarnErrorCode, HarnErrorResponse, HarnTask, RecordCheckpointRequest,
    RecordDependencyRequest, RecordedDependencyResource, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

/// Takes a Task and begins. Taken again by who has it, the claim lasts longer.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/claim",
    operation_id = "claimTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Option<ClaimTaskRequest>,
    responses(
        (status = 200, description = "The caller has it.", body = HarnTask),
        (status = 423, description = "Somebody else has it.", body = HarnErrorResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn claim_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = ClaimTaskRequest::parse(call.body.take())?;
    let asked = speak_as(asked, &call, request.agent_id.as_deref())?;
    Ok(HarnAnswer::ok(call.harness.claim_task(&asked, &task, &request).await?))
}

/// The request as that of the agent that its body names.
fn speak_as(
    asked: WriteRequest,
    call: &HarnCall,
    agent: Option<&str>,
) -> Result<WriteRequest, HarnRefused> {
    let Some(agent) = agent.filter(|agent| *agent != asked.caller.agent) else { return Ok(asked) };
    let refused = |code, problem: &str| HarnError::new(code, problem).at("agent_id").into();
    if !call.any_agent {
        let problem = "agent_id: the credential is another agent's";
        return Err(refused(HarnErrorCode::PermissionDenied, problem));
    }
    if agent == "system" {
        let problem = "agent_id: `system` is the Field's own name";
        return Err(refused(HarnErrorCode::InvalidRequest, problem));
    }
    let mut asked = asked;
    agent.clone_into(&mut asked.caller.agent);
    Ok(asked)
}

/// Appends an Event to the Task's stream: what an agent said or did, a span, a tool call.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/events",
    operation_id = "appendTaskEvent",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = AppendEventRequest,
    responses(
        (status = 201, description = "The Event.", body = Event),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn append_event(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Event> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = AppendEventRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_event(&asked, &task, request).await?))
}

/// The Task is done.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/complete",
    operation_id = "completeTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CompleteTaskRequest,
    responses(
        (status = 200, description = "Completed.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn complete_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = CompleteTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.complete_task(&asked, &task, request).await?))
}

/// The Task is given up.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/fail",
    operation_id = "failTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = FailTaskRequest,
    responses(
        (status = 200, description = "Failed.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn fail_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = FailTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.fail_task(&asked, &task, request).await?))
}

/// Records one answer that the work consumed, under its key. The same answer again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/dependencies",
    operation_id = "recordTaskDependency",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = RecordDependencyRequest,
    responses(
        (status = 200, description = "It was recorded before.", body = RecordedDependencyResource),
        (status = 201, description = "Recorded.", body = RecordedDependencyResource),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn record_dependency(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<RecordedDependencyResource> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = RecordDependencyRequest::parse(call.body.take().unwrap_or_default())?;
    let recorded = call.harness.record_dependency(&asked, &task, request).await?;
    let answer = if recorded.again { HarnAnswer::ok } else { HarnAnswer::created };
    Ok(answer(recorded.dependency))
}

/// Records a boundary from which a replay may begin. The Artifact's id is the checkpoint's.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/checkpoints",
    operation_id = "recordTaskCheckpoint",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = RecordCheckpointRequest,
    responses(
        (status = 201, description = "The snapshot.", body = Artifact),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn record_checkpoint(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = RecordCheckpointRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.record_checkpoint(&asked, &task, request).await?))
}
