//! COMPACT over HTTP (spec 3.9).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{CompactPayload, CompactResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn compact(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<CompactResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(CompactPayload::parse)?;
    let mut response =
        call.field.compact(call.message, payload).await.during(Operation::Compact)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
