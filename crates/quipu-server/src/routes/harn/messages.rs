//! Messages over HTTP: of a Session, and to a Task.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    AppendMessageRequest, AppendTaskMessageRequest, List, Message, ResourceKind,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_session_messages(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Message>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Message)?;
    Ok(HarnAnswer::ok(call.harness.messages(&call.caller, &session, page).await?))
}

pub(super) async fn append_session_message(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = AppendMessageRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_message(&asked, &session, request).await?))
}

pub(super) async fn get_message(
    State(app): State<Arc<App>>,
    HarnPath(message): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.message(&call.caller, &message).await?))
}

pub(super) async fn append_task_message(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Message> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = AppendTaskMessageRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.append_task_message(&asked, &task, request).await?))
}
