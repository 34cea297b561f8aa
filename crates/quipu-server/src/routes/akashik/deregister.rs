//! DEREGISTER over HTTP (spec 3.2).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::deregister::authority_needed;
use quipu_wire::{
    ProtocolError,
    akashik::{DeregisterPayload, DeregisterResponse, Operation},
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

/// An agent leaves the Field; its units stay.
#[utoipa::path(
    post,
    path = "/v1/deregister",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = DeregisterPayload, description = "The payload, or the whole envelope with operation DEREGISTER around it."),
    responses(
        (status = 200, description = "It left; or `status` is `not_found`.", body = DeregisterResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn deregister(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<DeregisterResponse> {
    let mut call = Call::receive(&app, Operation::Deregister, request).await?;
    let (payload, warnings) = match call.parse(DeregisterPayload::parse) {
        // The Field itself judges registration and authority, after it has looked for an earlier
        // message of the same id: who repeats its farewell is not registered any more.
        Ok(parsed) => parsed,
        Err(refused) => {
            let itself = DeregisterPayload { agent_id: call.message.agent.clone() };
            call.admit(|_| authority_needed(&itself.agent_id, &itself))?;
            return Err(refused);
        }
    };
    let mut response =
        call.field.deregister(call.message, payload).await.during(Operation::Deregister)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
