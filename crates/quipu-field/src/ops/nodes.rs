//! The handle where other nodes append to the same log: how a caller waits until this node knows of something, and
//! what is done about purges that other nodes decided.

use std::sync::{Arc, atomic::Ordering};

use quipu_log::EngineError;

use crate::{
    base::{
        error::{FieldError, Overload, RequestError},
        failure::with_causes,
        limits::POSITION_WAIT,
    },
    compact::purge,
    field::{Field, follow},
};
use quipu_core::Message;

impl Field {
    /// Starts to follow, where there is somebody to follow.
    pub(crate) fn follow_others(self: &Arc<Self>) -> Result<(), EngineError> {
        if self.following.is_none() {
            return Ok(());
        }
        let (engine, name) = (Arc::clone(&self.engine), self.name.clone());
        let field = Arc::downgrade(self);
        // Nobody waits for this thread: it may be the last that holds the Field for a moment.
        let thread = std::thread::Builder::new()
            .name(format!("follow-{name}"))
            .spawn(move || follow::run(&engine, &name, &field));
        thread.map(|_| ()).map_err(|source| EngineError::Io {
            action: format!("start the follower of field {}", self.name),
            source: source.into(),
        })
    }

    /// The highest position of the log that this node has heard of. It is behind while this is above its own head.
    #[must_use]
    pub fn announced_position(&self) -> u64 {
        self.heard.load(Ordering::Relaxed).max(self.head().position)
    }

    /// Waits, but not for long, until this node knows of the commit at a position, so that whoever was told of
    /// it by another node finds it here.
    pub async fn await_position(&self, position: u64) -> Result<(), FieldError> {
        if self.head().position >= position {
            return Ok(());
        }
        let Some(following) = &self.following else {
            // Where nobody else appends, nobody can have been told of more than there is.
            let here = self.head().position;
            return Err(RequestError::NoSuchPosition { position, here }.into());
        };
        let mut reached = self.reached.subscribe();
        following.seek(position);
        let there = reached.wait_for(|reached| *reached >= position);
        match tokio::time::timeout(POSITION_WAIT, there).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => {
                Err(Overload::NotHereYet { position, here: self.head().position }.into())
            }
        }
    }

    /// Catches up with other nodes where this one does not know who speaks: another may have registered it.
    /// Where it cannot catch up, it does not know who speaks, and must not say that nobody does.
    pub async fn meet(&self, message: &Message) -> Result<(), FieldError> {
        let Some(following) = &self.following else { return Ok(()) };
        let unknown = || self.view.read().state.agents.live(&message.agent).is_none();
        if unknown() { following.seek_all().await } else { Ok(()) }
    }

    /// Waits until this node knows of everything that was durable when it was asked, or says why it cannot.
    pub async fn catch_up(&self) -> Result<(), FieldError> {
        let Some(following) = &self.following else { return Ok(()) };
        following.seek_all().await
    }

    /// Erases what other nodes purged, and forgets it here. Whoever decided a purge may be gone before it has
    /// erased anything; erasing twice does nothing.
    pub(crate) fn finish_purges_of_others(&self) {
        let (last_purge, texts, units) = {
            let state = &self.view.read().state;
            if state.last_purge <= self.purged.load(Ordering::Relaxed) {
                return;
            }
            let units: Vec<_> = purge::purged_units(state).collect();
            (state.last_purge, purge::tombstoned(state), units)
        };
        if let Err(error) = self.erase_texts(&texts, last_purge) {
            tracing::warn!(field = %self.name, %error, "a purge is not finished");
        } else if let Err(error) = self.forget_vectors(&units) {
            tracing::warn!(field = %self.name, error = with_causes(&error), "vectors of purged units remain");
        }
    }
}
