//! A session, a task or a handoff as one commit left it, whatever became of it since. A message that is
//! sent again gets the answer of the first time, and that answer is made from this.

use std::sync::Arc;

use quipu_log::{Damage, DamageKind, Engine, EngineError, FieldName, Header};

use crate::{base::error::FieldError, field::Field};
use quipu_core::{
    Event, State,
    apply::{handoff_changed, session_changed, task_changed},
};

/// What an answer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thing {
    Session(String),
    Task(String),
    Handoff(String),
}

impl Thing {
    fn changes<'s>(&self, state: &'s State) -> &'s [u64] {
        let changes = match self {
            Self::Session(id) => state.sessions.get(id).map(|entry| &entry.changes),
            Self::Task(id) => state.tasks.get(id).map(|entry| &entry.changes),
            Self::Handoff(id) => state.handoffs.get(id).map(|entry| &entry.changes),
        };
        changes.map_or(&[], Vec::as_slice)
    }

    /// Applies an event, if it is about this.
    fn apply(
        &self,
        state: &mut State,
        header: &Header<Event>,
        index: u32,
        event: &Event,
    ) -> Result<(), String> {
        match (self, event) {
            (Self::Session(id), Event::SessionChanged { session, change }) if id == session => {
                session_changed(state, header, index, id, change)
            }
            (Self::Task(id), Event::TaskChanged { task, change }) if id == task => {
                task_changed(state, header, index, id, change)
            }
            (Self::Handoff(id), Event::HandoffChanged { handoff, change }) if id == handoff => {
                handoff_changed(state, header, index, id, change)
            }
            _ => Ok(()),
        }
    }
}

impl Field {
    /// What a write left of a thing. Where it was changed since, the log is read for it.
    pub(crate) async fn changed<T: Send + 'static>(
        self: &Arc<Self>,
        position: Option<u64>,
        thing: Thing,
        ask: impl Fn(&State) -> T + Send + 'static,
    ) -> Result<T, FieldError> {
        self.blocking(move |field| field.left_by(position, &thing, ask).map_err(FieldError::from))
            .await
    }

    /// Asks for a thing as the commit at a position left it; as it is now where that changed nothing.
    pub(crate) fn left_by<T>(
        &self,
        position: Option<u64>,
        thing: &Thing,
        ask: impl Fn(&State) -> T,
    ) -> Result<T, EngineError> {
        let changes: Vec<u64> = {
            let published = self.view.read();
            let changes = thing.changes(&published.state);
            match position {
                Some(position) if changes.last().is_some_and(|last| *last > position) => {
                    changes.iter().copied().take_while(|at| *at <= position).collect()
                }
                Some(_) | None => return Ok(ask(&published.state)),
            }
        };
        rebuild(self.engine.as_ref(), &self.name, &changes, thing).map(|state| ask(&state))
    }
}

/// A state that knows of nothing but one thing, as these commits left it.
fn rebuild(
    engine: &dyn Engine,
    field: &FieldName,
    changes: &[u64],
    thing: &Thing,
) -> Result<State, EngineError> {
    let mut state = State::default();
    for position in changes {
        for commit in engine.read(field, *position, 1)? {
            let header = commit.decode_header::<Event>()?;
            for (index, sealed) in (0u32..).zip(&header.events) {
                thing
                    .apply(&mut state, &header, index, &sealed.event)
                    .map_err(|wrong| Damage::new(*position, DamageKind::HeaderUnreadable(wrong)))?;
            }
        }
    }
    Ok(state)
}
