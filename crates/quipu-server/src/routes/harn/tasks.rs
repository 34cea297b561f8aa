//! Tasks over HTTP: submit, read, list, cancel.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::TaskFilter;
use quipu_wire::harn::{CancelTaskRequest, HarnTask, List, ResourceKind, SubmitTaskRequest};

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
    let filter = TaskFilter { workspace: text("workspace_id"), session: text("session_id") };
    list(&call, filter).await
}

pub(super) async fn list_session_tasks(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<HarnTask>> {
    let call = HarnCall::receive(&app, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    list(&call, TaskFilter { session: Some(session), workspace: None }).await
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
