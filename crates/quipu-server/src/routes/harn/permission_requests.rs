//! Questions whether something may be done, over HTTP, and the way a worker asks them.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::PermissionFilter;
use quipu_wire::harn::{
    AwaitTaskRequest, HarnTask, List, PermissionRequest, PermissionResponseRequest, ResourceKind,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_permission_requests(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<PermissionRequest>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::PermissionRequest)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = PermissionFilter { session: text("session_id"), task: text("task_id") };
    Ok(HarnAnswer::ok(call.harness.permission_requests(&call.caller, page, filter).await?))
}

pub(super) async fn list_task_permission_requests(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<PermissionRequest>> {
    let call = HarnCall::receive(&app, request).await?;
    call.harness.check_task(&call.caller, &task)?;
    let page = call.page(ResourceKind::PermissionRequest)?;
    let filter = PermissionFilter { session: None, task: Some(task) };
    Ok(HarnAnswer::ok(call.harness.permission_requests(&call.caller, page, filter).await?))
}

pub(super) async fn respond_permission_request(
    State(app): State<Arc<App>>,
    HarnPath(question): HarnPath<String>,
    request: Request,
) -> HarnOutcome<PermissionRequest> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let answer = PermissionResponseRequest::parse(call.body.take().unwrap_or_default())?;
    let answered = call.harness.respond_permission(&asked, &question, answer).await?;
    Ok(HarnAnswer::ok(answered))
}

pub(super) async fn await_answer(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = AwaitTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.await_answer(&asked, &task, request).await?))
}
