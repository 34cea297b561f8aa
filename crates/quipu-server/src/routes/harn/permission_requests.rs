//! Questions whether something may be done, over HTTP, and the way a worker asks them.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::PermissionFilter;
use quipu_wire::harn::{
    AwaitTaskRequest, HarnErrorResponse, HarnTask, List, PermissionRequest,
    PermissionResponseRequest, ResourceKind, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// The questions that the caller may know of, oldest first.
#[utoipa::path(
    get,
    path = "/v1/permission-requests",
    operation_id = "listPermissionRequests",
    tag = "harn",
    params(HarnHeaders, ("session_id" = Option<String>, Query), ("task_id" = Option<String>, Query), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<PermissionRequest>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn list_permission_requests(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<PermissionRequest>> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    let page = call.page(ResourceKind::PermissionRequest)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = PermissionFilter { session: text("session_id"), task: text("task_id") };
    Ok(HarnAnswer::ok(call.harness.permission_requests(&call.caller, page, filter).await?))
}

/// The questions of a Task.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task_id}/permission-requests",
    operation_id = "listTaskPermissionRequests",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<PermissionRequest>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn list_task_permission_requests(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<PermissionRequest>> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    call.harness.check_task(&call.caller, &task)?;
    let page = call.page(ResourceKind::PermissionRequest)?;
    let filter = PermissionFilter { session: None, task: Some(task) };
    Ok(HarnAnswer::ok(call.harness.permission_requests(&call.caller, page, filter).await?))
}

/// Answers a question. The Task that waits goes on, whatever the answer.
#[utoipa::path(
    post,
    path = "/v1/permission-requests/{request_id}/respond",
    operation_id = "respondPermissionRequest",
    tag = "harn",
    params(HarnHeaders, ("request_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = PermissionResponseRequest,
    responses(
        (status = 200, description = "The question with its answer.", body = PermissionRequest),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn respond_permission_request(
    State(app): State<Arc<App>>,
    HarnPath(question): HarnPath<String>,
    request: Request,
) -> HarnOutcome<PermissionRequest> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let answer = PermissionResponseRequest::parse(call.body.take().unwrap_or_default())?;
    let answered = call.harness.respond_permission(&asked, &question, answer).await?;
    Ok(HarnAnswer::ok(answered))
}

/// A worker says what its Task waits for: an answer, or that somebody allows something.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/await",
    operation_id = "awaitTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = AwaitTaskRequest,
    responses(
        (status = 200, description = "The Task as it stands now.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn await_answer(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = AwaitTaskRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.await_answer(&asked, &task, request).await?))
}
