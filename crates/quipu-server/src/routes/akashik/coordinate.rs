//! COORDINATE over HTTP (our contract, `docs/protocol/coordinate.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{CoordinatePayload, CoordinateResponse, Operation},
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

/// Moves a task through its life. The contract is ours; the protocol publishes none.
#[utoipa::path(
    post,
    path = "/v1/coordinate",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = CoordinatePayload, description = "The payload, or the whole envelope with operation COORDINATE around it."),
    responses(
        (status = 200, description = "The task, or the list.", body = CoordinateResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn coordinate(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<CoordinateResponse> {
    let mut call = Call::receive(&app, Operation::Coordinate, request).await?;
    call.admit(CoordinatePayload::authority_needed)?;
    let (payload, warnings) = call.parse(CoordinatePayload::parse)?;
    let mut response =
        call.field.coordinate(call.message, payload).await.during(Operation::Coordinate)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
