//! DEREGISTER over HTTP (spec 3.2).

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_core::rules::deregister::authority_needed;
use quipu_wire::akashik::{DeregisterPayload, DeregisterResponse, Operation};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn deregister(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<DeregisterResponse> {
    let mut call = Call::receive(&app, request).await?;
    let (payload, warnings) = match call.parse(DeregisterPayload::parse) {
        // The Field itself judges registration and authority, after it has looked for an earlier
        // message of the same id: who repeats its farewell is not registered any more.
        Ok(parsed) => parsed,
        Err(refused) => {
            let itself = DeregisterPayload { agent_id: call.message.agent.clone() };
            call.admit_with(authority_needed(&itself.agent_id, &itself))?;
            return Err(refused);
        }
    };
    let mut response =
        call.field.deregister(call.message, payload).await.during(Operation::Deregister)?;
    response.warnings.extend(warnings);
    Ok(Answer(response))
}
