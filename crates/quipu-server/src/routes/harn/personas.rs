//! Personas over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{
    CreatePersonaRequest, HarnErrorResponse, List, Persona, ResourceKind, TokenScope,
    UpdatePersonaRequest,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// All Personas, the built-in one first.
#[utoipa::path(
    get,
    path = "/v1/personas",
    operation_id = "listPersonas",
    tag = "harn",
    params(HarnHeaders, ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<Persona>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_personas(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Persona>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::Persona)?;
    Ok(HarnAnswer::ok(call.harness.personas(&call.caller, page).await?))
}

/// Makes a Persona.
#[utoipa::path(
    post,
    path = "/v1/personas",
    operation_id = "createPersona",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreatePersonaRequest,
    responses(
        (status = 201, description = "The Persona.", body = Persona),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_persona(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Persona> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreatePersonaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_persona(&asked, request).await?))
}

/// One Persona.
#[utoipa::path(
    get,
    path = "/v1/personas/{persona_id}",
    operation_id = "getPersona",
    tag = "harn",
    params(HarnHeaders, ("persona_id" = String, Path)),
    responses(
        (status = 200, description = "The Persona.", body = Persona),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_persona(
    State(app): State<Arc<App>>,
    HarnPath(persona): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Persona> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.persona(&call.caller, &persona).await?))
}

/// Changes a Persona.
#[utoipa::path(
    patch,
    path = "/v1/personas/{persona_id}",
    operation_id = "updatePersona",
    tag = "harn",
    params(HarnHeaders, ("persona_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = UpdatePersonaRequest,
    responses(
        (status = 200, description = "The Persona as it is now.", body = Persona),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn update_persona(
    State(app): State<Arc<App>>,
    HarnPath(persona): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Persona> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = UpdatePersonaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_persona(&asked, &persona, request).await?))
}
