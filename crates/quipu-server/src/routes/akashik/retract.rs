//! Retracting a unit over HTTP. Ours: not an operation of the protocol, so it has no envelope.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::retract::AUTHORITY;
use quipu_wire::{
    ProtocolError,
    akashik::{RetractPayload, RetractResponse},
};

use super::document::MessageHeaders;
use crate::pipeline::{
    answer::{Answer, Outcome},
    request::Call,
    state::App,
};

/// Withdraws a unit, for its author or for authority 10.
#[utoipa::path(
    post,
    path = "/v1/retract",
    tag = "quipu",
    params(MessageHeaders),
    request_body(content = RetractPayload, description = "The payload; there is no envelope for it."),
    responses(
        (status = 200, description = "The unit is retracted.", body = RetractResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn retract(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RetractResponse> {
    let mut call = Call::receive(&app, None, request).await?;
    call.admit(|_| AUTHORITY)?;
    let (payload, warnings) = call.parse(RetractPayload::parse)?;
    let mut response = call.field.retract(call.message, payload).await?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
