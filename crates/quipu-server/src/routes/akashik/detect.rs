//! DETECT over HTTP (spec 3.5).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::detect::AUTHORITY;
use quipu_wire::{
    ProtocolError,
    akashik::{DetectPayload, DetectResponse, Operation},
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

/// Lists conflicts.
#[utoipa::path(
    post,
    path = "/v1/detect",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = DetectPayload, description = "The payload, or the whole envelope with operation DETECT around it."),
    responses(
        (status = 200, description = "The conflicts that pass the filter.", body = DetectResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn detect(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<DetectResponse> {
    let mut call = Call::receive(&app, Operation::Detect, request).await?;
    call.admit(|_| AUTHORITY)?;
    let (payload, warnings) = call.parse(DetectPayload::parse)?;
    let mut response = call.field.detect(call.message, payload).await.during(Operation::Detect)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
