//! Which authority units of a type take, over HTTP. Ours: not an operation of the protocol.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::HeaderMap,
};
use quipu_wire::akashik::{LeastAuthorityPayload, LeastAuthorityTable};

use super::reads::readable;
use crate::pipeline::{
    answer::{Answer, Outcome},
    request::Call,
    route::Admission,
    state::App,
};

pub(super) async fn read(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
) -> Outcome<LeastAuthorityTable> {
    let (field, _) = readable(&app, admission, &headers).await?;
    Ok(Answer(field.least_authority()))
}

pub(super) async fn set(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<LeastAuthorityTable> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(LeastAuthorityPayload::parse)?;
    let mut table = call.field.set_least_authority(call.message, payload).await?;
    table.warnings.extend(warnings);
    Ok(Answer(table))
}
