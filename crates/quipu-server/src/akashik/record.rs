//! RECORD over HTTP (spec 3.3).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{Operation, RecordPayload, RecordResponse},
};

use super::document::MessageHeaders;
use crate::{
    answer::{Answer, Outcome},
    app::App,
    request::Call,
};

/// Adds a memory unit. It is on stable storage when the answer comes.
#[utoipa::path(
    post,
    path = "/v1/record",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = RecordPayload, description = "The payload, or the whole envelope with operation RECORD around it."),
    responses(
        (status = 200, description = "The unit is in.", body = RecordResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed; nothing was recorded, or it is not known.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn record(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RecordResponse> {
    let mut call = Call::receive(&app, Operation::Record, request).await?;
    call.admit(RecordPayload::authority_needed)?;
    let (payload, warnings) = call.parse(RecordPayload::parse)?;
    let mut response = call.field.record(call.message, payload).await?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
