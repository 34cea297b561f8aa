//! RECORD over HTTP (spec 3.3), and its form for several units, which is ours.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{
    Operation, RecordPayload, RecordResponse, RecordStatus, RecordsPayload, RecordsResponse,
};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn record(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RecordResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(RecordPayload::parse)?;
    let mut response = call.field.record(call.message, payload).await.during(Operation::Record)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}

pub(super) async fn records(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RecordsResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
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
