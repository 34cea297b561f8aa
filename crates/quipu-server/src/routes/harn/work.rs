//! Working on a Task over HTTP. Ours beside the protocol: an Akashik agent does the same by COORDINATE.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::WriteRequest;
use quipu_wire::harn::{
    AppendEventRequest, Artifact, ClaimTaskRequest, CompleteTaskRequest, Event, FailTaskRequest,
    HarnError, HarnErrorCode, HarnTask, RecordCheckpointRequest, RecordDependencyRequest,
    RecordedDependencyResource,
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
