//! The handle's methods for the Harn protocol: one write, and the reads that its resources are made from.
//! What the resources are is known one layer above.

use quipu_core::outline::Texts;
use std::{collections::BTreeSet, sync::Arc};

use quipu_log::{Body, BodyAddress, Commit, SealedEvent};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    base::{
        asker::check_waited_for,
        error::{FieldError, RequestError},
    },
    field::Field,
    write::task_moves::TaskMoved,
};
use quipu_core::{
    DocumentKind, Event, Message, Origin, State,
    rules::{Action, harn::HarnCommand},
    state::EventAddress,
};

/// What a write came to. Where an idempotency key was used before, what it came to then.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnOutcome {
    pub position: Option<u64>,
    pub events: Vec<SealedEvent<Event>>,
}

impl Field {
    pub async fn harn(
        &self,
        message: Message,
        command: HarnCommand,
    ) -> Result<HarnOutcome, FieldError> {
        let outcome = self.submit(message, Action::Harn(Box::new(command))).await?;
        Ok(HarnOutcome { position: outcome.position, events: outcome.events })
    }

    /// Looks at the published state. To be short: the writer waits for it.
    pub fn with_state<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        ask(&self.view.read().state)
    }

    /// The body at a place of the log, or nothing where it was erased. Reads storage: not for async code.
    pub fn body_at<T: DeserializeOwned>(
        &self,
        place: EventAddress,
    ) -> Result<Option<T>, FieldError> {
        self.bodies.load(place.0, place.1).map_err(FieldError::from)
    }

    /// Seals a text with a fresh salt, for a command.
    pub fn seal<T: Serialize>(&self, text: &T) -> Result<Body, FieldError> {
        Ok(Body::new(self.origin.salt(), text).map_err(RequestError::Unwritable)?)
    }

    /// Where times, ids and salts come from.
    #[must_use]
    pub fn origin(&self) -> &dyn Origin {
        self.origin.as_ref()
    }

    /// Erases what removed content said, wherever it is. Where that was done before, nothing is left to do.
    pub async fn erase_content(self: &Arc<Self>, id: &str) -> Result<(), FieldError> {
        let id = id.to_owned();
        self.regardless(move |field| {
            let (texts, last_purge) = field.with_state(|state| {
                let entry = state.documents.taken(DocumentKind::Content, &id);
                let gone = entry.filter(|entry| entry.removed);
                let places = gone.into_iter().flat_map(|entry| &entry.earlier);
                let address = |&(position, event): &EventAddress| BodyAddress { position, event };
                (places.map(address).collect::<BTreeSet<_>>(), state.last_purge)
            });
            if !texts.is_empty() {
                field.erase_texts(&texts, last_purge)?;
            }
            Ok(())
        })
        .await
    }

    /// Published commits from a position on. Reads storage: not for async code.
    pub fn commits(&self, from: u64, limit: usize) -> Result<Vec<Commit>, FieldError> {
        let head = self.head().position;
        if from > head {
            return Ok(Vec::new());
        }
        check_waited_for()?;
        let read = self.engine.read(&self.name, from.max(1), limit);
        let mut commits = read?;
        commits.retain(|commit| commit.position <= head);
        Ok(commits)
    }

    /// Waits until something behind a position is published, or the Field is closed.
    pub async fn await_beyond(&self, position: u64) -> bool {
        self.tail.beyond(position).await.position > position
    }

    /// What tells that a task was made or moved from now on. Unlike waiting for any commit, it costs the writer
    /// nothing while no task moves, and whoever waits does not hold the Field.
    #[must_use]
    pub fn task_moves(&self) -> TaskMoved {
        TaskMoved::from_now(&self.task_moves)
    }
}
