//! COMPACT over HTTP (spec 3.9).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::{
    ProtocolError,
    akashik::{CompactPayload, CompactResponse, Operation},
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

/// Archives, summarizes or purges units.
#[utoipa::path(
    post,
    path = "/v1/compact",
    tag = "akashik",
    params(MessageHeaders),
    request_body(content = CompactPayload, description = "The payload, or the whole envelope with operation COMPACT around it."),
    responses(
        (status = 200, description = "What was done, which is nothing where no unit passes the filter.", body = CompactResponse),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed; nothing was done, or it is not known.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn compact(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<CompactResponse> {
    let mut call = Call::receive(&app, Operation::Compact, request).await?;
    call.admit(CompactPayload::authority_needed)?;
    let (payload, warnings) = call.parse(CompactPayload::parse)?;
    let mut response =
        call.field.compact(call.message, payload).await.during(Operation::Compact)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
