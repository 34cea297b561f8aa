//! Skills over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{HarnErrorResponse, List, ResourceKind, Skill, TokenScope};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// What can be done here.
#[utoipa::path(
    get,
    path = "/v1/skills",
    operation_id = "listSkills",
    tag = "harn",
    params(HarnHeaders, ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Skill>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_skills(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Skill>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Skill)?;
    Ok(HarnAnswer::ok(call.harness.skills(page)?))
}

/// One Skill.
#[utoipa::path(
    get,
    path = "/v1/skills/{skill_id}",
    operation_id = "getSkill",
    tag = "harn",
    params(HarnHeaders, ("skill_id" = String, Path)),
    responses(
        (status = 200, description = "The Skill.", body = Skill),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_skill(
    State(app): State<Arc<App>>,
    HarnPath(skill): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Skill> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.skill(&skill)?))
}
