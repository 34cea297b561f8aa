//! What every read needs: an epoch from the clock, a thread for what takes long, and texts.

use std::sync::Arc;

use quipu_log::EngineError;

use crate::{
    base::error::{FieldError, Overload},
    field::Field,
    read::bodies::Bodies,
    write::clock::ReadTick,
};
use quipu_core::{
    Message, Refusal, State,
    event::ClockReason,
    rules::{Action, Command},
};

impl Field {
    /// Waits until the log knows of an epoch that is too far ahead for a read alone.
    pub(crate) async fn await_epoch(&self, message: &Message) -> Result<(), FieldError> {
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
    pub(crate) fn tick(&self, received: u64) -> Result<u64, FieldError> {
        match self.clock.tick_for_read(received)? {
            ReadTick::At(epoch, log_it) => {
                if log_it {
                    self.log_clock();
                }
                Ok(epoch)
            }
            ReadTick::LogFirst => Err(Overload::ClockBehind { received }.into()),
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

    /// Fills in the texts of outlines. Reads storage: not for async code.
    pub(crate) fn complete<O, T>(
        &self,
        outlines: Vec<O>,
        complete: fn(O, &Bodies) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, FieldError> {
        let all = outlines.into_iter().map(|outline| complete(outline, &self.bodies));
        Ok(all.collect::<Result<_, _>>()?)
    }

    /// Fills in the texts of outlines, away from the threads that serve sockets.
    pub(crate) async fn with_texts<O: Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        outlines: Vec<O>,
        complete: fn(O, &Bodies) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, FieldError> {
        self.blocking(move |field| field.complete(outlines, complete)).await
    }

    /// Runs what reads the disk or thinks for long away from the threads that serve sockets, when it is the turn of
    /// whoever asks. It is not begun, or ends early, where nobody waits for it any more.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, FieldError> + Send + 'static,
    ) -> Result<T, FieldError> {
        let field = Arc::clone(self);
        self.tail.turns.take(move || work(&field)).await?
    }

    /// Runs what has to be done whether anybody waits for it or not, and what only waits, at once.
    pub(crate) async fn regardless<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, FieldError> + Send + 'static,
    ) -> Result<T, FieldError> {
        let field = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&field))
            .await
            .unwrap_or_else(|error| Err(FieldError::Internal(format!("work failed: {error}"))))
    }

    /// Looks at the published state for a message, which ticks the clock as every message does.
    pub(crate) async fn glance<T>(
        self: &Arc<Self>,
        message: Message,
        look: impl FnOnce(&State, &Message) -> Result<T, Refusal>,
    ) -> Result<T, FieldError> {
        self.await_epoch(&message).await?;
        let published = self.view.read();
        self.tick(message.epoch)?;
        Ok(look(&published.state, &message)?)
    }
}
