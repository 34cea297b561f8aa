//! REPLAY over HTTP (spec 3.8).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::replay::AUTHORITY;
use quipu_wire::{
    ProtocolError,
    akashik::{Operation, ReplayPayload, ReplayResponse},
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

/// Tells how something came about, from the log alone.
#[utoipa::path(
    post,
    path = "/v1/replay",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = ReplayPayload, description = "The payload, or the whole envelope with operation REPLAY around it."),
    responses(
        (status = 200, description = "The story, and what happened in order.", body = ReplayResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<ReplayResponse> {
    let mut call = Call::receive(&app, Operation::Replay, request).await?;
    call.admit(|_| AUTHORITY)?;
    let (payload, warnings) = call.parse(ReplayPayload::parse)?;
    let mut response = call.field.replay(call.message, payload).await.during(Operation::Replay)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
