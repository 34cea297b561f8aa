//! Outcomes over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::Page;
use quipu_wire::harn::{List, Outcome, ResourceKind};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_outcomes(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Outcome>> {
    let call = HarnCall::receive(&app, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Outcome, limit, cursor)?;
    let task = call.query.get("task_id");
    Ok(HarnAnswer::ok(call.harness.outcomes(&call.caller, page, task).await?))
}

pub(super) async fn get_outcome(
    State(app): State<Arc<App>>,
    HarnPath(outcome): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Outcome> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.outcome(&call.caller, &outcome).await?))
}
