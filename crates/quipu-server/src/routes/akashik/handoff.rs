//! HANDOFF over HTTP (our contract, `docs/protocol/handoff.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{HandoffPayload, HandoffResponse, Operation},
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

/// Hands a task and its context to another agent. The contract is ours; the protocol publishes none.
#[utoipa::path(
    post,
    path = "/v1/handoff",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = HandoffPayload, description = "The payload, or the whole envelope with operation HANDOFF around it."),
    responses(
        (status = 200, description = "The handoff, or the list.", body = HandoffResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn handoff(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<HandoffResponse> {
    let mut call = Call::receive(&app, Operation::Handoff, request).await?;
    call.admit(HandoffPayload::authority_needed)?;
    let (payload, warnings) = call.parse(HandoffPayload::parse)?;
    let mut response =
        call.field.handoff(call.message, payload).await.during(Operation::Handoff)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
