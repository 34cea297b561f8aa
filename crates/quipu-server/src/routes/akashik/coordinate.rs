//! COORDINATE over HTTP (our contract, `docs/protocol/coordinate.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{CoordinatePayload, CoordinateResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn coordinate(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<CoordinateResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(CoordinatePayload::parse)?;
    let mut response =
        call.field.coordinate(call.message, payload).await.during(Operation::Coordinate)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
