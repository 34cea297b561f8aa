//! SESSION on the handle.

use std::sync::Arc;

use quipu_wire::akashik::{SessionPayload, SessionResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    Message,
    outline::SessionOutline,
    rules::{Action, session},
};

impl Field {
    /// SESSION. The answer to a write is the session as that write left it.
    pub async fn session(
        self: &Arc<Self>,
        message: Message,
        payload: SessionPayload,
    ) -> Result<SessionResponse, FieldError> {
        let action = payload.action;
        let outlines = if session::is_read(action) {
            self.glance(message, move |state, message| session::read(state, message, &payload))
                .await?
        } else {
            let named = payload.session_id.clone();
            let command = session::SessionCommand::prepare(payload, self.origin.as_ref())
                .map_err(RequestError::Unwritable)?;
            let outcome = self.submit(message, Action::Session(Box::new(command))).await?;
            let id = session::subject(&outcome.events).map(str::to_owned).or(named);
            let id = id.unwrap_or_default();
            let found = self.changed(outcome.position, Thing::Session(id.clone()), move |state| {
                state.sessions.get(&id).map(|entry| SessionOutline::of(&id, entry))
            });
            found.await?.into_iter().collect()
        };
        let sessions = self.with_texts(outlines, SessionOutline::complete).await?;
        Ok(session::respond(action, sessions))
    }
}
