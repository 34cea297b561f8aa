//! REPLAY over HTTP (spec 3.8).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{Operation, ReplayPayload, ReplayResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn replay(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<ReplayResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(ReplayPayload::parse)?;
    let mut response = call.field.replay(call.message, payload).await.during(Operation::Replay)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
