//! Outcomes over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::Page;
use quipu_wire::harn::{HarnErrorResponse, List, Outcome, ResourceKind, TokenScope};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// How Tasks ended, in the order in which they did.
#[utoipa::path(
    get,
    path = "/v1/outcomes",
    operation_id = "listOutcomes",
    tag = "harn",
    params(
        HarnHeaders,
        ("task_id" = Option<String>, Query),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<Outcome>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn list_outcomes(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Outcome>> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Outcome, limit, cursor)?;
    let task = call.query.get("task_id");
    Ok(HarnAnswer::ok(call.harness.outcomes(&call.caller, page, task).await?))
}

/// One Outcome.
#[utoipa::path(
    get,
    path = "/v1/outcomes/{outcome_id}",
    operation_id = "getOutcome",
    tag = "harn",
    params(HarnHeaders, ("outcome_id" = String, Path)),
    responses(
        (status = 200, description = "The Outcome.", body = Outcome),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["tasks:read"])),
)]
pub(super) async fn get_outcome(
    State(app): State<Arc<App>>,
    HarnPath(outcome): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Outcome> {
    let call = HarnCall::receive(&app, TokenScope::TasksRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.outcome(&call.caller, &outcome).await?))
}
