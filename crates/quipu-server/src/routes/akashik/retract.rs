//! Retracting a unit over HTTP. Ours: not an operation of the protocol, so it has no envelope.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{RetractPayload, RetractResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    request::Call,
    state::App,
};

pub(super) async fn retract(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RetractResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(RetractPayload::parse)?;
    let mut response = call.field.retract(call.message, payload).await?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
