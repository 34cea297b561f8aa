//! RECORD over HTTP (spec 3.3), and its form for several units, which is ours.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{
        Operation, RecordPayload, RecordResponse, RecordStatus, RecordsPayload, RecordsResponse,
    },
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
    let mut response = call.field.record(call.message, payload).await.during(Operation::Record)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}

/// Adds several memory units, all or none, in one commit. They are on stable storage when the answer comes.
#[utoipa::path(
    post,
    path = "/v1/records",
    tag = "quipu",
    params(MessageHeaders),
    request_body(content = RecordsPayload, description = "The payload; there is no envelope for it."),
    responses(
        (status = 200, description = "The units are in.", body = RecordsResponse),
        (status = "4XX", description = "Refused; none was recorded.", body = ProtocolError),
        (status = "5XX", description = "Failed; none was recorded, or it is not known.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn records(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RecordsResponse> {
    let mut call = Call::receive(&app, None, request).await?;
    call.admit(RecordsPayload::authority_needed)?;
    let mut ignored = Vec::new();
    let (payload, warnings) = call.parse(|payload| {
        let (payload, of_units, around) = RecordsPayload::parse(payload)?;
        ignored = of_units;
        Ok((payload, around))
    })?;
    let mut units = call.field.record_all(call.message, payload).await.during(Operation::Record)?;
    for (unit, ignored) in units.iter_mut().zip(ignored) {
        unit.warnings.extend(ignored);
    }
    let epoch = units.first().map_or(0, |unit| unit.epoch);
    Ok(Answer(RecordsResponse { status: RecordStatus::Accepted, epoch, units, warnings }))
}
