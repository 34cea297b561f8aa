//! DETECT over HTTP (spec 3.5).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{DetectPayload, DetectResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn detect(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<DetectResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(DetectPayload::parse)?;
    let mut response = call.field.detect(call.message, payload).await.during(Operation::Detect)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
