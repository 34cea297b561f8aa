//! MERGE over HTTP (spec 3.6).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{MergePayload, MergeResponse, Operation},
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

/// Settles a conflict, or casts a ballot on it.
#[utoipa::path(
    post,
    path = "/v1/merge",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = MergePayload, description = "The payload, or the whole envelope with operation MERGE around it."),
    responses(
        (status = 200, description = "The conflict as it is now, and what else changed.", body = MergeResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn merge(State(app): State<Arc<App>>, request: Request) -> Outcome<MergeResponse> {
    let mut call = Call::receive(&app, Operation::Merge, request).await?;
    call.admit(MergePayload::authority_needed)?;
    let (payload, warnings) = call.parse(MergePayload::parse)?;
    let mut response = call.field.merge(call.message, payload).await.during(Operation::Merge)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
