//! SESSION over HTTP (our contract, `docs/protocol/session.md`).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{Operation, SessionPayload, SessionResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn session(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<SessionResponse> {
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(SessionPayload::parse)?;
    let mut response =
        call.field.session(call.message, payload).await.during(Operation::Session)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
