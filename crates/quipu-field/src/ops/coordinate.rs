//! COORDINATE on the handle, and the leases of tasks.

use std::sync::Arc;

use quipu_wire::akashik::{CoordinatePayload, CoordinateResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    Message,
    outline::TaskOutline,
    rules::{Action, Command, coordinate},
};

impl Field {
    /// COORDINATE. The answer to a write is the task as that write left it.
    pub async fn coordinate(
        self: &Arc<Self>,
        message: Message,
        payload: CoordinatePayload,
    ) -> Result<CoordinateResponse, FieldError> {
        let action = payload.action;
        let outlines = if coordinate::is_read(action) {
            self.glance(message, move |state, message| coordinate::read(state, message, &payload))
                .await?
        } else {
            let command = coordinate::CoordinateCommand::prepare(payload, self.origin.as_ref())
                .map_err(RequestError::Unwritable)?;
            let outcome = self.submit(message, Action::Coordinate(Box::new(command))).await?;
            let id = coordinate::subject(&outcome.events).unwrap_or_default().to_owned();
            let found = self.changed(outcome.position, Thing::Task(id.clone()), move |state| {
                state.tasks.get(&id).map(|entry| TaskOutline::of(&id, entry))
            });
            found.await?.into_iter().collect()
        };
        let tasks = self.with_texts(outlines, TaskOutline::complete).await?;
        Ok(coordinate::respond(action, tasks))
    }

    /// Puts tasks whose lease has run out back into the pool, if there are any. To be called now and
    /// then: without it a lost task is only noticed when the next command arrives.
    pub fn expire_leases(&self) {
        let now = self.origin.now_ms();
        if !self.view.read().state.tasks.has_expired(now) {
            return;
        }
        // Where the queue is full, the commands in it will do as well.
        self.post(Command::of_the_field(now, Action::ExpireLeases));
    }
}
