//! Quotas over HTTP. That they can be set is ours.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{CreateQuotaRequest, List, Quota, ResourceKind, UpdateQuotaRequest};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_quotas(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Quota>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Quota)?;
    Ok(HarnAnswer::ok(call.harness.quotas(page).await?))
}

pub(super) async fn create_quota(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Quota> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateQuotaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_quota(&asked, request).await?))
}

pub(super) async fn get_quota(
    State(app): State<Arc<App>>,
    HarnPath(quota): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Quota> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.quota(&call.caller, &quota).await?))
}

pub(super) async fn update_quota(
    State(app): State<Arc<App>>,
    HarnPath(quota): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Quota> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = UpdateQuotaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_quota(&asked, &quota, request).await?))
}
