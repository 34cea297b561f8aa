//! DEREGISTER on the handle.

use quipu_wire::akashik::{DeregisterPayload, DeregisterResponse};

use crate::{base::error::FieldError, field::Field};
use quipu_core::{
    Message,
    rules::{Action, deregister},
};

impl Field {
    pub async fn deregister(
        &self,
        message: Message,
        payload: DeregisterPayload,
    ) -> Result<DeregisterResponse, FieldError> {
        let outcome = self.submit(message, Action::Deregister(payload)).await?;
        Ok(deregister::respond(&outcome.events))
    }
}
