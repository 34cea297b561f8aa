//! Events as they happen: first what the log says behind a place, then what is new, without a gap because
//! both come from the log. Holds one batch and asks for the next when somebody takes it.

use std::collections::VecDeque;

use quipu_field::Asker;
use quipu_wire::harn::{Event, HarnError};

use crate::{
    Caller, EventPosition, EventScope, Harness,
    feed::range::{Batch, Mark},
    task::tasks::TaskView,
};

const EVENTS_AT_ONCE: usize = 32;

#[derive(Debug)]
pub enum Fed {
    /// An Event. One that had happened when the feed was opened is marked as replayed.
    Event(Box<Event>),
    /// The Task has ended, and nothing more will come of it.
    Over,
    Closed,
}

/// One reader's way along the log.
#[derive(Debug)]
pub struct EventFeed {
    harness: Harness,
    caller: Caller,
    scope: EventScope,
    next: Mark,
    /// What had happened when the feed was opened is up to here.
    opened_at: u64,
    ready: VecDeque<(EventPosition, Event)>,
    /// Whose turns it takes to read.
    asker: Asker,
}

impl Harness {
    /// Opens a feed of the Events of a scope behind an Event, or from the beginning.
    ///
    /// # Errors
    /// 410 where the Event is not one of the scope that the caller may know of.
    pub async fn feed(
        &self,
        caller: &Caller,
        scope: EventScope,
        after: Option<&str>,
    ) -> Result<EventFeed, HarnError> {
        let (asked, within) = (caller.clone(), scope.clone());
        let after = after.map(str::to_owned);
        let next = self.reading(move |harness| {
            harness.behind(&asked, &within, after.as_deref(), "Last-Event-ID")
        });
        let next = next.await?;
        let asker = Asker::current();
        asker.keep();
        Ok(EventFeed {
            harness: self.clone(),
            caller: caller.clone(),
            scope,
            next,
            opened_at: self.field.head().position,
            ready: VecDeque::new(),
            asker,
        })
    }
}

impl EventFeed {
    /// What is next. Dropping the wait loses nothing.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn next(&mut self) -> Result<Fed, HarnError> {
        loop {
            if let Some((place, mut event)) = self.ready.pop_front() {
                event.replayed |= place.0.0 <= self.opened_at;
                return Ok(Fed::Event(Box::new(event)));
            }
            let (there, head, over) = self.harness.field.with_state(|state| {
                let there = !self.scope.commits(state, self.next.0.0, 1).is_empty();
                let task = self.scope.task.as_ref();
                let task = task.and_then(|id| TaskView::find(state, &self.caller, id));
                (there, state.position, task.is_some_and(|task| task.status.is_terminal()))
            });
            if there {
                self.read_on().await?;
            } else if over {
                return Ok(Fed::Over);
            } else if !self.harness.field.await_beyond(head).await {
                return Ok(Fed::Closed);
            }
        }
    }

    async fn read_on(&mut self) -> Result<(), HarnError> {
        let (caller, scope, from) = (self.caller.clone(), self.scope.clone(), self.next);
        let read = self
            .harness
            .reading(move |harness| harness.read_events(&caller, &scope, from, EVENTS_AT_ONCE));
        let Batch { events, next, .. } = self.asker.clone().asks(read).await?;
        (self.ready, self.next) = (events.into(), next);
        Ok(())
    }
}
