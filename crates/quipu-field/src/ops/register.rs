//! REGISTER on the handle.

use quipu_wire::akashik::{RegisterPayload, RegisterResponse};

use crate::{base::error::FieldError, field::Field};
use quipu_core::{
    Message,
    rules::{Action, register},
};

impl Field {
    /// REGISTER.
    pub async fn register(
        &self,
        message: Message,
        payload: RegisterPayload,
    ) -> Result<RegisterResponse, FieldError> {
        self.clock.check(message.epoch)?;
        if let Some(rejection) = register::missing_operations(&payload) {
            return Ok(rejection);
        }
        let outcome = self.submit(message, Action::Register(payload)).await?;
        Ok(register::respond(&outcome.events))
    }
}
