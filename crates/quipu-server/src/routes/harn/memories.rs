//! Memories over HTTP.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use quipu_harness::MemoryFilter;
use quipu_wire::harn::{
    CreateMemoryRequest, HarnErrorResponse, List, Memory, ResourceKind, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

/// The Memories that the caller may see, oldest first.
#[utoipa::path(
    get,
    path = "/v1/memories",
    operation_id = "listMemories",
    tag = "harn",
    params(HarnHeaders, ("workspace_id" = Option<String>, Query), ("session_id" = Option<String>, Query), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Memory>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_memories(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Memory>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Memory)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = MemoryFilter { workspace: text("workspace_id"), session: text("session_id") };
    Ok(HarnAnswer::ok(call.harness.memories(&call.caller, page, filter).await?))
}

/// Records a memory unit.
#[utoipa::path(
    post,
    path = "/v1/memories",
    operation_id = "createMemory",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateMemoryRequest,
    responses(
        (status = 201, description = "The Memory.", body = Memory),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_memory(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Memory> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateMemoryRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_memory(&asked, request).await?))
}

/// One Memory.
#[utoipa::path(
    get,
    path = "/v1/memories/{memory_id}",
    operation_id = "getMemory",
    tag = "harn",
    params(HarnHeaders, ("memory_id" = String, Path)),
    responses(
        (status = 200, description = "The Memory.", body = Memory),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_memory(
    State(app): State<Arc<App>>,
    HarnPath(memory): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Memory> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.memory(&call.caller, &memory).await?))
}

/// Retracts the memory unit, for its author or the operator.
#[utoipa::path(
    delete,
    path = "/v1/memories/{memory_id}",
    operation_id = "deleteMemory",
    tag = "harn",
    params(HarnHeaders, ("memory_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses(
        (status = 204, description = "It is retracted."),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn delete_memory(
    State(app): State<Arc<App>>,
    HarnPath(memory): HarnPath<String>,
    request: Request,
) -> Result<StatusCode, HarnRefused> {
    let call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    call.harness.delete_memory(&asked, &memory).await?;
    Ok(StatusCode::NO_CONTENT)
}
