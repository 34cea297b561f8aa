//! Tasks over HTTP: submit, read, list, cancel.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::TaskFilter;
use quipu_wire::harn::{
    CancelTaskRequest, HarnErrorResponse, HarnTask, List, ResourceKind, SubmitTaskRequest,
    TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// Submits a Task to the Session that the body names. A Task that names no Persona is answered by the Field
/// itself; another waits for a worker.
#[utoipa::path(
    post,
    path = "/v1/tasks",
    operation_id = "submitTask",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = SubmitTaskRequest,
    responses(
        (status = 200, description = "The key was used before: the Task of then.", body = HarnTask),
        (status = 202, description = "Accepted, and durable.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn submit_task(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    submit(call, None).await
}

/// Submits a Task to a Session. Shares its idempotency keys with `POST /v1/tasks`.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/tasks",
    operation_id = "submitSessionTask",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = SubmitTaskRequest,
    responses(
        (status = 200, description = "The key was used before: the Task of then.", body = HarnTask),
        (status = 202, description = "Accepted, and durable.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn submit_session_task(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    submit(call, Some(session)).await
}

async fn submit(mut call: HarnCall, session: Option<String>) -> HarnOutcome<HarnTask> {
    let asked = call.asked()?;
    let body = call.body.take().unwrap_or_default();
    let request = SubmitTaskRequest::parse(body, session.as_deref())?;
    let submitted = call.harness.submit_task(&asked, request).await?;
    let answer = if submitted.reused { HarnAnswer::ok } else { HarnAnswer::accepted };
    Ok(answer(submitted.task))
}

/// All Tasks that the caller may know of, in the order of their making.
#[utoipa::path(
    get,
    path = "/v1/tasks",
    operation_id = "listTasks",
    tag = "harn",
    params(
        HarnHeaders,
        ("workspace_id" = Option<String>, Query),
        ("session_id" = Option<String>, Query),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<HarnTask>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn list_tasks(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<HarnTask>> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = TaskFilter { workspace: text("workspace_id"), session: text("session_id") };
    list(&call, filter).await
}

/// The Tasks of a Session.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/tasks",
    operation_id = "listSessionTasks",
    tag = "harn",
    params(
        HarnHeaders,
        ("session_id" = String, Path),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<HarnTask>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn list_session_tasks(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<HarnTask>> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    list(&call, TaskFilter { session: Some(session), workspace: None }).await
}

async fn list(call: &HarnCall, filter: TaskFilter) -> HarnOutcome<List<HarnTask>> {
    let page = call.query.page(ResourceKind::Task)?;
    Ok(HarnAnswer::ok(call.harness.tasks(&call.caller, page, filter).await?))
}

/// One Task.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task_id}",
    operation_id = "getTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path)),
    responses(
        (status = 200, description = "The Task.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn get_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.task(&call.caller, &task).await?))
}

/// Cancels a Task. Canceling again changes nothing; a Task that was completed or has failed is a conflict.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/cancel",
    operation_id = "cancelTask",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Option<CancelTaskRequest>,
    responses(
        (status = 200, description = "Canceled.", body = HarnTask),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn cancel_task(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<HarnTask> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = CancelTaskRequest::parse(call.body.take())?;
    Ok(HarnAnswer::ok(call.harness.cancel_task(&asked, &task, request).await?))
}
