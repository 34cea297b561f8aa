//! ATTUNE over HTTP (spec 3.4).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::attune::AUTHORITY;
use quipu_wire::{
    ProtocolError,
    akashik::{AttunePayload, AttuneResponse, Operation},
};

use super::document::MessageHeaders;
use crate::{
    app::state::App,
    pipeline::{
        answer::{Answer, Outcome},
        errors::During,
        request::Call,
    },
};

/// Gives an agent the units that matter to it, best first.
#[utoipa::path(
    post,
    path = "/v1/attune",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = AttunePayload, description = "The payload, or the whole envelope with operation ATTUNE around it."),
    responses(
        (status = 200, description = "The units and the open conflicts.", body = AttuneResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn attune(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<AttuneResponse> {
    let mut call = Call::receive(&app, Operation::Attune, request).await?;
    call.admit(|_| AUTHORITY)?;
    let (payload, warnings) = call.parse(AttunePayload::parse)?;
    let mut response = call.field.attune(call.message, payload).await.during(Operation::Attune)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
