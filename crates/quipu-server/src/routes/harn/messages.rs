//! Messages over HTTP: of a Session, and to a Task.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    AppendMessageRequest, AppendTaskMessageRequest, HarnErrorResponse, List, Message, ResourceKind,
    TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// The transcript of a Session, in order.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/messages",
    operation_id = "listSessionMessages",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Message>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_session_messages(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Message>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Message)?;
    Ok(HarnAnswer::ok(call.harness.messages(&call.caller, &session, page).await?))
}

/// Says something in a Session. Whoever speaks in an open one becomes a member of it.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/messages",
    operation_id = "appendSessionMessage",
    tag = "harn",
    params(HarnHeaders, ("session_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = AppendMessageRequest,
    responses(
        (status = 201, description = "The Message.", body = Message),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn append_session_message(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = AppendMessageRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_message(&asked, &session, request).await?))
}

/// One Message.
#[utoipa::path(
    get,
    path = "/v1/messages/{message_id}",
    operation_id = "getMessage",
    tag = "harn",
    params(HarnHeaders, ("message_id" = String, Path)),
    responses(
        (status = 200, description = "The Message.", body = Message),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_message(
    State(app): State<Arc<App>>,
    HarnPath(message): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.message(&call.caller, &message).await?))
}

/// Says something to a Task. One that waits for it goes on.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task_id}/messages",
    operation_id = "appendTaskMessage",
    tag = "harn",
    params(HarnHeaders, ("task_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = AppendTaskMessageRequest,
    responses(
        (status = 201, description = "The Message.", body = Message),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:write"])),
)]
pub(super) async fn append_task_message(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let mut call = HarnCall::receive(&app, TokenScope::TasksWrite, request).await?;
    let asked = call.asked()?;
    let request = AppendTaskMessageRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_task_message(&asked, &task, request).await?))
}
