//! Skills over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{List, ResourceKind, Skill};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_skills(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Skill>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Skill)?;
    Ok(HarnAnswer::ok(call.harness.skills(page)?))
}

pub(super) async fn get_skill(
    State(app): State<Arc<App>>,
    HarnPath(skill): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Skill> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.skill(&skill)?))
}
