//! REGISTER over HTTP (spec 3.1).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::akashik::{Operation, RegisterPayload, RegisterResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn register(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<RegisterResponse> {
    let mut call = Call::receive(&app, request).await?;
    let (payload, warnings) = call.parse(RegisterPayload::parse)?;
    let registered = call.field.register_granted(call.message, payload, call.roles).await;
    let mut response = registered.during(Operation::Register)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
