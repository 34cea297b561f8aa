//! The end of the log as the writer knows it: the last durable commit, and the state on which the next decision rests.

use std::sync::Arc;

use quipu_core::{Event, Origin, State, apply::apply};
use quipu_log::{Engine, EngineError, FieldName, Head, Header};

use crate::{
    base::{error::FieldError, failure::with_causes, health::Health, meter::Meter},
    read::view::View,
    write::{clock::LamportClock, publication::Publication},
};

/// What the next commit follows, and what it is decided on.
#[derive(Debug)]
pub(crate) struct LogEnd {
    pub engine: Arc<dyn Engine>,
    pub field: FieldName,
    pub clock: Arc<LamportClock>,
    pub view: Arc<View>,
    pub health: Arc<Health>,
    /// The state with everything decided so far, durable or not. After a batch that did not happen there is none, and
    /// decisions rest on what readers see: on a full disk a copy of the state for each attempt would cost far more than
    /// the attempt.
    pub state: Option<State>,
    pub head: Head,
    /// Makes visible what is durable.
    pub publication: Arc<Publication>,
    /// The time of the last commit. Time in a log never goes back, whatever the clocks of its nodes do.
    pub time_ms: u64,
    /// The Field's time, which is told where a commit is later than it: another node wrote it.
    pub origin: Arc<dyn Origin>,
    pub meter: Arc<dyn Meter>,
}

impl LogEnd {
    /// Reads the state on which the next decision rests.
    pub(crate) fn with_state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        match &self.state {
            Some(state) => read(state),
            None => read(&self.view.read().state),
        }
    }

    /// Makes a state that has the batch so far, where there is none and what readers see is not enough.
    pub(crate) fn own_state(&mut self, batch: &[Header<Event>]) {
        if self.state.is_some() || batch.is_empty() {
            return;
        }
        let mut state = {
            let published = self.view.read();
            // Another node was faster: whatever is decided now comes too late, and is decided again.
            if published.head != self.head {
                return;
            }
            published.state.clone()
        };
        for header in batch {
            if let Err(wrong) = apply(&mut state, header) {
                self.health.fail(&format!("a decision could not be applied: {wrong}"));
                return;
            }
        }
        self.state = Some(state);
    }

    /// Where there is no state of its own, the next commit follows what readers see.
    pub(crate) fn follow_view(&mut self) {
        if self.state.is_none() {
            let missed = self.publication.missed();
            self.head = missed.head;
            self.time_ms = self.time_ms.max(missed.time_ms);
        }
    }

    /// Forgets what was decided and is not durable.
    pub(crate) fn abandon(&mut self) {
        self.state = None;
        self.clock.abandoned();
        self.follow_view();
    }

    /// An append failed: back to what is durable. Where it is not survivable, nothing is appended any more.
    pub(crate) fn give_up(&mut self, error: EngineError, is_survivable: bool) -> FieldError {
        tracing::error!(field = %self.field, error = with_causes(&error), "append failed");
        if !is_survivable {
            self.health.fail(&format!("append failed: {}", with_causes(&error)));
        }
        self.abandon();
        error.into()
    }
}
