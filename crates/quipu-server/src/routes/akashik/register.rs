//! REGISTER over HTTP (spec 3.1).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{Operation, RegisterPayload, RegisterResponse},
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

/// An agent joins the Field, or comes back to it.
#[utoipa::path(
    post,
    path = "/v1/register",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = RegisterPayload, description = "The payload, or the whole envelope with operation REGISTER around it."),
    responses(
        (status = 200, description = "It joined; or `status` is `rejected`, where the Field lacks an operation that it requires.", body = RegisterResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn register(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RegisterResponse> {
    let mut call = Call::receive(&app, Operation::Register, request).await?;
    let (payload, warnings) = call.parse(RegisterPayload::parse)?;
    let mut response =
        call.field.register(call.message, payload).await.during(Operation::Register)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
