//! HANDOFF over HTTP (our contract, `docs/protocol/handoff.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{HandoffPayload, HandoffResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn handoff(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<HandoffResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(HandoffPayload::parse)?;
    let mut response =
        call.field.handoff(call.message, payload).await.during(Operation::Handoff)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
