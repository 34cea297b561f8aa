//! The restoration of units on the handle. Ours, not an operation of the protocol.

use quipu_wire::akashik::{RestorePayload, RestoreResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
};
use quipu_core::{
    Message,
    rules::{
        Action,
        restore::{self, RestoreCommand},
    },
};

impl Field {
    /// Brings units back that were withdrawn, archived or replaced. Ours, not an operation of the protocol.
    pub async fn restore(
        &self,
        message: Message,
        payload: RestorePayload,
    ) -> Result<RestoreResponse, FieldError> {
        let command = RestoreCommand::prepare(payload, self.origin.as_ref())
            .map_err(RequestError::Unwritable)?;
        let outcome = self.submit(message, Action::Restore(Box::new(command))).await?;
        self.enriching.iter().for_each(|enriching| enriching.wake());
        Ok(restore::respond(outcome.epoch, &outcome.events))
    }
}
