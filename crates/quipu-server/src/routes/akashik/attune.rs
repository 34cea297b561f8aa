//! ATTUNE over HTTP (spec 3.4).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{AttunePayload, AttuneResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn attune(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<AttuneResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(AttunePayload::parse)?;
    let mut response = call.field.attune(call.message, payload).await.during(Operation::Attune)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
