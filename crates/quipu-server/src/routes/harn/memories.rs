//! Memories over HTTP.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use quipu_harness::MemoryFilter;
use quipu_wire::harn::{CreateMemoryRequest, List, Memory, ResourceKind};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

pub(super) async fn list_memories(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Memory>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Memory)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = MemoryFilter { workspace: text("workspace_id"), session: text("session_id") };
    Ok(HarnAnswer::ok(call.harness.memories(&call.caller, page, filter).await?))
}

pub(super) async fn create_memory(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Memory> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateMemoryRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_memory(&asked, request).await?))
}

pub(super) async fn get_memory(
    State(app): State<Arc<App>>,
    HarnPath(memory): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Memory> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.memory(&call.caller, &memory).await?))
}

pub(super) async fn delete_memory(
    State(app): State<Arc<App>>,
    HarnPath(memory): HarnPath<String>,
    request: Request,
) -> Result<StatusCode, HarnRefused> {
    let call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    call.harness.delete_memory(&asked, &memory).await?;
    Ok(StatusCode::NO_CONTENT)
}
