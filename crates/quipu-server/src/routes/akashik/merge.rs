//! MERGE over HTTP (spec 3.6).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{MergePayload, MergeResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn merge(State(app): State<Arc<App>>, request: Request) -> Outcome<MergeResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(MergePayload::parse)?;
    let mut response = call.field.merge(call.message, payload).await.during(Operation::Merge)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
