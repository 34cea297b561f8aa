//! Personas over HTTP.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{CreatePersonaRequest, List, Persona, ResourceKind, UpdatePersonaRequest};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_personas(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Persona>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Persona)?;
    Ok(HarnAnswer::ok(call.harness.personas(&call.caller, page).await?))
}

pub(super) async fn create_persona(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Persona> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreatePersonaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_persona(&asked, request).await?))
}

pub(super) async fn get_persona(
    State(app): State<Arc<App>>,
    HarnPath(persona): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Persona> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.persona(&call.caller, &persona).await?))
}

pub(super) async fn update_persona(
    State(app): State<Arc<App>>,
    HarnPath(persona): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Persona> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = UpdatePersonaRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_persona(&asked, &persona, request).await?))
}
