//! Tasks over HTTP: submit, read, list, cancel.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::TaskFilter;
use quipu_wire::harn::{
    CancelTaskRequest, HarnError, HarnErrorCode, HarnTask, List, ResourceKind, SubmitTaskRequest,
    TaskState,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn submit_task(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, request).await?;
    submit(call, None).await
}

pub(super) async fn submit_session_task(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, request).await?;
    submit(call, Some(session)).await
}

async fn submit(mut call: HarnCall, session: Option<String>) -> HarnOutcome<HarnTask> {
    let asked = call.as_write()?;
    let body = call.body.take().unwrap_or_default();
    let request = SubmitTaskRequest::parse(body, session.as_deref())?;
    let submitted = call.harness.submit_task(&asked, request).await?;
    let answer = if submitted.reused { HarnAnswer::ok } else { HarnAnswer::accepted };
    Ok(answer(submitted.task))
}

pub(super) async fn list_tasks(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<HarnTask>> {
    let call = HarnCall::receive(&app, request).await?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = filter(&call)?;
    let filter =
        TaskFilter { workspace: text("workspace_id"), session: text("session_id"), ..filter };
    list(&call, filter).await
}

pub(super) async fn list_session_tasks(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<HarnTask>> {
    let call = HarnCall::receive(&app, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    let filter = TaskFilter { session: Some(session), ..filter(&call)? };
    list(&call, filter).await
}

/// The filters that all lists of Tasks have.
fn filter(call: &HarnCall) -> Result<TaskFilter, HarnError> {
    let text = |name| call.query.get(name).map(str::to_owned);
    let refused = |name: &str, wanted: String| {
        HarnError::new(HarnErrorCode::InvalidRequest, format!("{name}: must be {wanted}")).at(name)
    };
    let word = |word| {
        let unknown = || refused("status", format!("one of {}", TaskState::WORDS));
        TaskState::parse(word).ok_or_else(unknown)
    };
    let flag = |word| match word {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(refused("dead_letter", "true or false".to_owned())),
    };
    Ok(TaskFilter {
        status: call.query.get("status").map(word).transpose()?,
        parent: text("parent_task_id"),
        queue: text("queue"),
        persona: text("persona_id"),
        dead_letter: call.query.get("dead_letter").map(flag).transpose()?,
        ..TaskFilter::default()
    })
}

async fn list(call: &HarnCall, filter: TaskFilter) -> HarnOutcome<List<HarnTask>> {
    let page = call.query.page(ResourceKind::Task)?;
    Ok(HarnAnswer::ok(call.harness.tasks(&call.caller, page, filter).await?))
}

pub(super) async fn get_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.task(&call.caller, &task).await?))
}

pub(super) async fn cancel_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CancelTaskRequest::parse(call.body.take())?;
    Ok(HarnAnswer::ok(call.harness.cancel_task(&asked, &task, request).await?))
}
