//! The retraction of a unit on the handle. Ours, not an operation of the protocol.

use quipu_wire::akashik::{RetractPayload, RetractResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
};
use quipu_core::{
    Message,
    rules::{
        Action,
        retract::{self, RetractCommand},
    },
};

impl Field {
    /// Withdraws a unit. Ours, not an operation of the protocol.
    pub async fn retract(
        &self,
        message: Message,
        payload: RetractPayload,
    ) -> Result<RetractResponse, FieldError> {
        let command = RetractCommand::prepare(payload, self.origin.as_ref())
            .map_err(RequestError::Unwritable)?;
        let outcome = self.submit(message, Action::Retract(Box::new(command))).await?;
        let untraced = || FieldError::Internal("the retraction left no trace".to_owned());
        retract::respond(outcome.epoch, &outcome.events).ok_or_else(untraced)
    }
}
