//! The retraction of a unit on the handle. Ours, not an operation of the protocol.

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{RetractPayload, RetractResponse},
};

use crate::{base::failure::unwritable, field::Field};
use quipu_core::{
    message::Message,
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
    ) -> Result<RetractResponse, ProtocolError> {
        let command = RetractCommand::prepare(payload, self.origin.as_ref())
            .map_err(|error| unwritable(&error))?;
        let outcome = self.submit(message, Action::Retract(Box::new(command))).await?;
        retract::respond(outcome.epoch, &outcome.events).ok_or_else(|| {
            ProtocolError::new(ErrorCode::InternalError, "the retraction left no trace")
        })
    }
}
