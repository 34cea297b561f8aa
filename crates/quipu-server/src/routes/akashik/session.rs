//! SESSION over HTTP (our contract, `docs/protocol/session.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{Operation, SessionPayload, SessionResponse},
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

/// Opens, joins, pauses and ends sessions. The contract is ours; the protocol publishes none.
#[utoipa::path(
    post,
    path = "/v1/session",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = SessionPayload, description = "The payload, or the whole envelope with operation SESSION around it."),
    responses(
        (status = 200, description = "The session, or the list.", body = SessionResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn session(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<SessionResponse> {
    let mut call = Call::receive(&app, Operation::Session, request).await?;
    call.admit(SessionPayload::authority_needed)?;
    let (payload, warnings) = call.parse(SessionPayload::parse)?;
    let mut response =
        call.field.session(call.message, payload).await.during(Operation::Session)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
