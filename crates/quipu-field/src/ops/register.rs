//! REGISTER on the handle.

use quipu_wire::akashik::{RegisterPayload, RegisterResponse};

use crate::{base::error::FieldError, field::Field};
use quipu_core::{
    Message, RoleGrant,
    rules::{
        Action,
        register::{self, RegisterCommand},
    },
};

impl Field {
    /// REGISTER, for a caller that decides itself who has which role.
    pub async fn register(
        &self,
        message: Message,
        payload: RegisterPayload,
    ) -> Result<RegisterResponse, FieldError> {
        self.register_granted(message, payload, RoleGrant::Every).await
    }

    /// REGISTER, through a credential that gives some roles and no others.
    pub async fn register_granted(
        &self,
        message: Message,
        payload: RegisterPayload,
        roles: RoleGrant,
    ) -> Result<RegisterResponse, FieldError> {
        self.clock.check(message.epoch)?;
        if let Some(rejection) = register::missing_operations(&payload) {
            return Ok(rejection);
        }
        let outcome =
            self.submit(message, Action::Register(RegisterCommand { payload, roles })).await?;
        Ok(register::respond(&outcome.events))
    }
}
