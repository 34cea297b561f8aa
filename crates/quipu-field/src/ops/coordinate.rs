//! COORDINATE on the handle, and the leases of tasks.

use std::sync::Arc;

use quipu_wire::{
    ProtocolError,
    akashik::{CoordinatePayload, CoordinateResponse, Operation},
};

use crate::{
    base::failure::{storage_failure, unwritable},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    message::Message,
    outline::TaskOutline,
    rules::{Action, Command, coordinate},
};

impl Field {
    /// COORDINATE. The answer to a write is the task as that write left it.
    pub async fn coordinate(
        self: &Arc<Self>,
        message: Message,
        payload: CoordinatePayload,
    ) -> Result<CoordinateResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Coordinate);
        let action = payload.action;
        let outlines = if coordinate::is_read(action) {
            self.glance(message, Operation::Coordinate, move |state, message| {
                coordinate::read(state, message, &payload)
            })
            .await?
        } else {
            let command = coordinate::CoordinateCommand::prepare(payload, self.origin.as_ref())
                .map_err(|error| during(unwritable(&error)))?;
            let outcome = self.submit(message, Action::Coordinate(Box::new(command))).await?;
            let id = coordinate::subject(&outcome.events).unwrap_or_default().to_owned();
            let found = self.changed(outcome.position, Thing::Task(id.clone()), move |state| {
                state.tasks.get(&id).map(|entry| TaskOutline::of(&id, entry))
            });
            found.await.map_err(during)?.into_iter().collect()
        };
        self.blocking(move |field| {
            let complete = |outline: TaskOutline| outline.complete(&field.bodies);
            let tasks = outlines.into_iter().map(complete).collect::<Result<_, _>>();
            Ok(coordinate::respond(action, tasks.map_err(|error| storage_failure(&error))?))
        })
        .await
        .map_err(during)
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
