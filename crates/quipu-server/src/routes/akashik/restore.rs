//! Restoring units over HTTP. Ours: not an operation of the protocol, so it has no envelope.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{RestorePayload, RestoreResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    request::Call,
    state::App,
};

pub(super) async fn restore(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RestoreResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(RestorePayload::parse)?;
    let mut response = call.field.restore(call.message, payload).await?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
