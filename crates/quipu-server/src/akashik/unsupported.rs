//! The operations that this version does not carry out. A caller learns it only with a valid key and
//! a message that reads, so that the answer stays the same when the operation comes.

use axum::extract::Request;
use quipu_wire::{ErrorCode, ProtocolError, akashik::Operation};

use crate::{answer::Refused, app::App, request::Authenticated};

pub(super) async fn unsupported(app: &App, operation: Operation, request: Request) -> Refused {
    match Authenticated::receive(app, operation, request).await {
        Ok(_) => {
            let message = format!("operation: {operation} is not carried out by this Field");
            let error = ProtocolError::new(ErrorCode::UnsupportedOperation, message);
            error.during(operation).into()
        }
        Err(refused) => refused,
    }
}
