//! REGISTER on the handle.

use quipu_wire::{
    ProtocolError,
    akashik::{Operation, RegisterPayload, RegisterResponse},
};

use crate::field::Field;
use quipu_core::{
    message::Message,
    rules::{Action, register},
};

impl Field {
    /// REGISTER.
    pub async fn register(
        &self,
        message: Message,
        payload: RegisterPayload,
    ) -> Result<RegisterResponse, ProtocolError> {
        self.clock
            .check(message.epoch)
            .map_err(|error| ProtocolError::from(error).during(Operation::Register))?;
        if let Some(rejection) = register::missing_operations(&payload) {
            return Ok(rejection);
        }
        let outcome = self.submit(message, Action::Register(payload)).await?;
        Ok(register::respond(&outcome.events))
    }
}
