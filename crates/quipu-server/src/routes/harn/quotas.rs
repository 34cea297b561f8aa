//! Quotas over HTTP. That they can be set is ours.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreateQuotaRequest, HarnErrorResponse, List, Quota, ResourceKind, TokenScope,
    UpdateQuotaRequest,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// All Quotas, with what is used up.
#[utoipa::path(
    get,
    path = "/v1/quotas",
    operation_id = "listQuotas",
    tag = "harn",
    params(HarnHeaders, ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Quota>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_quotas(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Quota>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Quota)?;
    Ok(HarnAnswer::ok(call.harness.quotas(page).await?))
}

/// Makes a Quota, with authority 8.
#[utoipa::path(
    post,
    path = "/v1/quotas",
    operation_id = "createQuota",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateQuotaRequest,
    responses(
        (status = 201, description = "The Quota.", body = Quota),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_quota(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Quota> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateQuotaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_quota(&asked, request).await?))
}

/// One Quota, with what is used up.
#[utoipa::path(
    get,
    path = "/v1/quotas/{quota_id}",
    operation_id = "getQuota",
    tag = "harn",
    params(HarnHeaders, ("quota_id" = String, Path)),
    responses(
        (status = 200, description = "The Quota.", body = Quota),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_quota(
    State(app): State<Arc<App>>,
    HarnPath(quota): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Quota> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.quota(&call.caller, &quota).await?))
}

/// Changes a Quota, with authority 8.
#[utoipa::path(
    patch,
    path = "/v1/quotas/{quota_id}",
    operation_id = "updateQuota",
    tag = "harn",
    params(HarnHeaders, ("quota_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = UpdateQuotaRequest,
    responses(
        (status = 200, description = "The Quota as it is now.", body = Quota),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn update_quota(
    State(app): State<Arc<App>>,
    HarnPath(quota): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Quota> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = UpdateQuotaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_quota(&asked, &quota, request).await?))
}
