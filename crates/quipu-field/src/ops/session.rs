//! SESSION on the handle.

use std::sync::Arc;

use quipu_wire::{
    ProtocolError,
    akashik::{Operation, SessionPayload, SessionResponse},
};

use crate::{
    base::failure::{storage_failure, unwritable},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    message::Message,
    outline::SessionOutline,
    rules::{Action, session},
};

impl Field {
    /// SESSION. The answer to a write is the session as that write left it.
    pub async fn session(
        self: &Arc<Self>,
        message: Message,
        payload: SessionPayload,
    ) -> Result<SessionResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Session);
        let action = payload.action;
        let outlines = if session::is_read(action) {
            self.glance(message, Operation::Session, move |state, message| {
                session::read(state, message, &payload)
            })
            .await?
        } else {
            let named = payload.session_id.clone();
            let command = session::SessionCommand::prepare(payload, self.origin.as_ref())
                .map_err(|error| during(unwritable(&error)))?;
            let outcome = self.submit(message, Action::Session(Box::new(command))).await?;
            let id = session::subject(&outcome.events).map(str::to_owned).or(named);
            let id = id.unwrap_or_default();
            let found = self.changed(outcome.position, Thing::Session(id.clone()), move |state| {
                state.sessions.get(&id).map(|entry| SessionOutline::of(&id, entry))
            });
            found.await.map_err(during)?.into_iter().collect()
        };
        self.blocking(move |field| {
            let complete = |outline: SessionOutline| outline.complete(&field.bodies);
            let sessions = outlines.into_iter().map(complete).collect::<Result<_, _>>();
            let sessions = sessions.map_err(|error| storage_failure(&error))?;
            Ok(session::respond(action, sessions))
        })
        .await
        .map_err(during)
    }
}
