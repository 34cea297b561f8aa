//! What every read needs: an epoch from the clock, a thread for what takes long, and texts.

use std::sync::Arc;

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{Conflict, Operation},
};

use crate::{base::failure::storage_failure, field::Field, write::clock::ReadTick};
use quipu_core::{
    event::ClockReason,
    message::Message,
    outline::ConflictOutline,
    rules::{Action, Command, Refusal},
    state::State,
};

impl Field {
    /// Waits until the log knows of an epoch that is too far ahead for a read alone.
    pub(crate) async fn await_epoch(&self, message: &Message) -> Result<(), ProtocolError> {
        if self.clock.must_log_before_read(message.epoch)? {
            // Where this node cannot look, the log cannot be written either.
            self.catch_up().await.ok();
            let advance = Action::AdvanceClock(ClockReason::Reads);
            let told = self.submit(self.system(message.epoch), advance).await;
            // Reads go on where the log cannot be written, unless they bring an epoch that is new.
            if let Err(error) = told
                && message.epoch > self.clock.now()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ticks for a read, while the view is held.
    pub(crate) fn tick(&self, received: u64) -> Result<u64, ProtocolError> {
        match self.clock.tick_for_read(received)? {
            ReadTick::At(epoch, log_it) => {
                if log_it {
                    self.log_clock();
                }
                Ok(epoch)
            }
            ReadTick::LogFirst => Err(ProtocolError::new(
                ErrorCode::Overloaded,
                format!("epoch: the log has not caught up with {received} yet"),
            )),
        }
    }

    /// Tells the log how far reads have come, without waiting for it.
    fn log_clock(&self) {
        let command = Command {
            message: self.system(0),
            time_ms: self.origin.now_ms(),
            action: Action::AdvanceClock(ClockReason::Reads),
        };
        // Where the queue is full, writes will move the clock soon enough.
        self.post(command);
    }

    pub(crate) fn complete(
        &self,
        conflicts: Vec<ConflictOutline>,
    ) -> Result<Vec<Conflict>, ProtocolError> {
        conflicts
            .into_iter()
            .map(|conflict| conflict.complete(&self.bodies))
            .collect::<Result<_, _>>()
            .map_err(|error| storage_failure(&error))
    }

    /// Runs what reads the disk or thinks for long away from the threads that serve sockets.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, ProtocolError> + Send + 'static,
    ) -> Result<T, ProtocolError> {
        let field = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&field)).await.unwrap_or_else(|error| {
            Err(ProtocolError::new(ErrorCode::InternalError, format!("a read failed: {error}")))
        })
    }

    /// Looks at the published state for a message, which ticks the clock as every message does.
    pub(crate) async fn glance<T>(
        self: &Arc<Self>,
        message: Message,
        operation: Operation,
        look: impl FnOnce(&State, &Message) -> Result<T, Refusal>,
    ) -> Result<T, ProtocolError> {
        let during = |error: ProtocolError| error.during(operation);
        self.await_epoch(&message).await.map_err(during)?;
        let published = self.view.read();
        self.tick(message.epoch).map_err(during)?;
        look(&published.state, &message).map_err(|refusal| during(refusal.into()))
    }
}
