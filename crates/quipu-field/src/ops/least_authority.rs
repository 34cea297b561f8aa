//! Which authority units of a type take, on the handle. Ours, not an operation of the protocol.

use quipu_wire::akashik::{LeastAuthorityPayload, LeastAuthorityTable};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
};
use quipu_core::{
    Message,
    rules::{Action, least_authority::LeastAuthorityCommand},
};

impl Field {
    /// Which authority it takes to record a unit of each type.
    #[must_use]
    pub fn least_authority(&self) -> LeastAuthorityTable {
        let least = self.view.read().state.least_authority.rows();
        LeastAuthorityTable { least, warnings: Vec::new() }
    }

    /// Changes it; answers how it is now.
    pub async fn set_least_authority(
        &self,
        message: Message,
        payload: LeastAuthorityPayload,
    ) -> Result<LeastAuthorityTable, FieldError> {
        let command = LeastAuthorityCommand::prepare(payload, self.origin.as_ref())
            .map_err(RequestError::Unwritable)?;
        self.submit(message, Action::SetLeastAuthority(Box::new(command))).await?;
        Ok(self.least_authority())
    }
}
