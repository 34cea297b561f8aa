//! Ranges of Events: what the log says behind a place, read commit by commit so that memory stays flat. A
//! range of an unchanged log is the same whenever it is read.

use std::collections::BTreeMap;

use quipu_core::{Event as Logged, state::EventAddress};
use quipu_wire::{
    harn::{Cursor, Event, HarnError, HarnErrorCode, List, ResourceKind},
    json::page_room::PageRoom,
};

use crate::{
    Caller, EventPosition, EventScope, Harness, event::narrate::narrate_with_positions,
    handle::failure::harn_error, not_found, recording::finish::Finish,
};

/// How many commits are read before the state is asked for more.
const COMMITS_AT_ONCE: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The Events with their places, in order.
    pub(crate) events: Vec<(EventPosition, Event)>,
    /// Where to go on.
    pub(crate) next: Mark,
    room: PageRoom,
    /// Whether the next event has no room among these.
    is_full: bool,
}

impl Batch {
    /// Adds an event, if there is room for it.
    fn add(&mut self, place: EventPosition, event: Event) -> bool {
        self.is_full = !self.room.takes(&event);
        if !self.is_full {
            self.events.push((place, event));
        }
        !self.is_full
    }
}

/// Where a reader stands: at a place of the log and, where a replay ended there, at one of the events that it
/// replayed, which come before the one that says so.
pub(crate) type Mark = (EventAddress, u64);

impl Harness {
    /// `GET /v1/events`, `GET /v1/sessions/{session_id}/events` and `GET /v1/tasks/{task_id}/events`: what
    /// happened behind an Event, or from the beginning.
    ///
    /// # Errors
    /// 410 where the Event is not one of the scope that the caller may know of.
    pub async fn events(
        &self,
        caller: &Caller,
        scope: EventScope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<List<Event>, HarnError> {
        let (caller, after) = (caller.clone(), after.map(str::to_owned));
        self.reading(move |harness| {
            let from = harness.behind(&caller, &scope, after.as_deref(), "after_event_id")?;
            let mut batch = harness.read_events(&caller, &scope, from, limit.saturating_add(1))?;
            let more = batch.is_full || batch.events.len() > limit;
            batch.events.truncate(limit);
            let last = batch.events.last().filter(|_| more);
            let next = last.map(|(_, event)| event.envelope.id.clone());
            Ok(List::page(batch.events.into_iter().map(|(_, event)| event).collect(), next))
        })
        .await
    }

    /// `GET /v1/events/{event_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn event(&self, caller: &Caller, id: &str) -> Result<Event, HarnError> {
        let (caller, id) = (caller.clone(), id.to_owned());
        self.reading(move |harness| {
            let found = harness.find_event(&caller, &EventScope::default(), &id)?;
            let (place, mut event) = found.ok_or_else(|| not_found(ResourceKind::Event, &id))?;
            let mut last = BTreeMap::new();
            harness.link_replayed(&mut last, place, &event)?;
            harness.link(&mut last, place, &mut event)?;
            Ok(event)
        })
        .await
    }

    /// The Task is one that the caller may know of.
    ///
    /// # Errors
    /// 404 otherwise.
    pub fn check_task(&self, caller: &Caller, id: &str) -> Result<(), HarnError> {
        self.view_task(caller, id).map(|_| ())
    }

    /// The first place behind an Event of a scope; the beginning without one. Reads storage.
    pub(crate) fn behind(
        &self,
        caller: &Caller,
        scope: &EventScope,
        after: Option<&str>,
        param: &str,
    ) -> Result<Mark, HarnError> {
        let Some(id) = after else { return Ok(((0, 0), 0)) };
        let found = self.find_event(caller, scope, id)?;
        let found = found.ok_or_else(|| Cursor::expired(param))?;
        if let Some((place, ordinal)) = Finish::parse(id).filter(|(place, _)| *place == found.0) {
            return Ok((place.0, ordinal.saturating_add(1)));
        }
        let EventPosition((position, index)) = found.0;
        Ok(((position, index.saturating_add(1)), 0))
    }

    /// At most so many Events of a scope from a mark on, and no more than a page of bytes. Reads storage.
    pub(crate) fn read_events(
        &self,
        caller: &Caller,
        scope: &EventScope,
        from: Mark,
        limit: usize,
    ) -> Result<Batch, HarnError> {
        let mut batch = Batch { next: from, ..Batch::default() };
        let mut last = BTreeMap::new();
        while batch.events.len() < limit {
            let positions = self
                .field
                .with_state(|state| scope.commits(state, batch.next.0.0, COMMITS_AT_ONCE));
            if positions.is_empty() {
                break;
            }
            for position in positions {
                for (place, mut event) in self.events_of_commit(caller, scope, position)? {
                    if place.0 < batch.next.0 {
                        continue;
                    }
                    self.read_replayed(&mut batch, &mut last, (place, &event), limit)?;
                    if batch.is_full || batch.events.len() == limit {
                        return Ok(batch);
                    }
                    self.link(&mut last, place, &mut event)?;
                    if !batch.add(place, event) {
                        return Ok(batch);
                    }
                    batch.next = ((position, place.0.1 + 1), 0);
                }
                batch.next = ((position + 1, 0), 0);
            }
        }
        Ok(batch)
    }

    /// Where a replay ended, the events that it replayed, as far as they fit. Moves the mark to the event that
    /// says so, or to the next of those.
    fn read_replayed(
        &self,
        batch: &mut Batch,
        last: &mut BTreeMap<String, String>,
        (place, event): (EventPosition, &Event),
        limit: usize,
    ) -> Result<(), HarnError> {
        let from = if batch.next.0 == place.0 { batch.next.1 } else { 0 };
        batch.next = (place.0, from);
        let Some(finish) = self.replay_ended_by(place, event)? else { return Ok(()) };
        let Some(task) = &event.task_id else { return Ok(()) };
        let room = limit.saturating_sub(batch.events.len());
        if let Some(before) = from.checked_sub(1) {
            last.insert(task.clone(), finish.event_id(before));
        }
        for mut replayed in self.replayed_events(task, from, room)? {
            self.link(last, place, &mut replayed)?;
            if !batch.add(place, replayed) {
                break;
            }
            batch.next.1 += 1;
        }
        Ok(())
    }

    fn events_of_commit(
        &self,
        caller: &Caller,
        scope: &EventScope,
        position: u64,
    ) -> Result<Vec<(EventPosition, Event)>, HarnError> {
        let commits = self.field.commits(position, 1).map_err(|error| harn_error(&error))?;
        let Some(commit) = commits.into_iter().find(|commit| commit.position == position) else {
            return Ok(Vec::new());
        };
        let header = commit.decode_header::<Logged>().map_err(|error| {
            tracing::error!(position, %error, "a commit cannot be read");
            HarnError::new(HarnErrorCode::InternalError, "the log cannot be read")
        })?;
        Ok(self.field.with_state(|state| {
            let mut events = narrate_with_positions(state, &header, &commit);
            events.retain(|(_, event)| scope.has(state, caller, event));
            events
        }))
    }

    fn find_event(
        &self,
        caller: &Caller,
        scope: &EventScope,
        id: &str,
    ) -> Result<Option<(EventPosition, Event)>, HarnError> {
        // An id of another server may be one of this log's too. The scope says which is meant, and where it has both, it is
        // this log's: nobody brings an event that stands for another.
        let imported = self.field.with_state(|state| state.streams.imported(id));
        for place in EventPosition::parse(id).into_iter().chain(imported.map(EventPosition)) {
            if place.0.0 == 0 {
                continue;
            }
            let events = self.events_of_commit(caller, scope, place.0.0)?;
            let found =
                events.into_iter().find(|(at, event)| *at == place && event.envelope.id == id);
            if found.is_some() {
                return Ok(found);
            }
        }
        self.find_replayed(caller, scope, id)
    }

    fn find_replayed(
        &self,
        caller: &Caller,
        scope: &EventScope,
        id: &str,
    ) -> Result<Option<(EventPosition, Event)>, HarnError> {
        let Some((place, ordinal)) = Finish::parse(id) else { return Ok(None) };
        let events = self.events_of_commit(caller, scope, place.0.0)?;
        let Some((_, end)) = events.into_iter().find(|(at, _)| *at == place) else {
            return Ok(None);
        };
        let finish = self.replay_ended_by(place, &end)?;
        let Some(task) = end.task_id.filter(|_| finish.is_some()) else { return Ok(None) };
        let event = self.replayed_events(&task, ordinal, 1)?.pop();
        Ok(event.filter(|event| event.envelope.id == id).map(|event| (place, event)))
    }

    /// Says which Event was before one that a replay replayed, or before the one that ended it.
    fn link_replayed(
        &self,
        last: &mut BTreeMap<String, String>,
        place: EventPosition,
        event: &Event,
    ) -> Result<(), HarnError> {
        let Some(task) = &event.task_id else { return Ok(()) };
        let ordinal = Finish::parse(&event.envelope.id).map(|(_, ordinal)| ordinal);
        let finish = Finish { place, events: 0 };
        let before = match ordinal {
            Some(ordinal) => ordinal.checked_sub(1),
            None => self.replay_ended_by(place, event)?.and_then(|it| it.events.checked_sub(1)),
        };
        last.extend(before.map(|before| (task.clone(), finish.event_id(before))));
        Ok(())
    }

    /// Says which Event was before it in its Task's stream. `last` remembers that from Event to Event.
    fn link(
        &self,
        last: &mut BTreeMap<String, String>,
        place: EventPosition,
        event: &mut Event,
    ) -> Result<(), HarnError> {
        let Some(task) = event.task_id.clone() else { return Ok(()) };
        let before = match last.get(&task) {
            Some(id) => Some(id.clone()),
            None => self.before(&task, place)?,
        };
        event.previous_event_id = before;
        last.insert(task, event.envelope.id.clone());
        Ok(())
    }

    fn before(&self, task: &str, place: EventPosition) -> Result<Option<String>, HarnError> {
        // Who may see one Event of a Task may see them all.
        let anybody = Caller::new("", quipu_wire::limits::AUTHORITY_MAX);
        let scope = EventScope::task(task);
        let mut position = place.0.0;
        loop {
            let events = self.events_of_commit(&anybody, &scope, position)?;
            let before = events.into_iter().rev().find(|(at, _)| *at < place);
            if let Some((_, event)) = before {
                return Ok(Some(event.envelope.id));
            }
            let earlier = self.field.with_state(|state| {
                let commits = &state.streams.task(task)?.commits;
                let at = commits.partition_point(|other| *other < position);
                commits.get(at.checked_sub(1)?).copied()
            });
            let Some(earlier) = earlier else { return Ok(None) };
            position = earlier;
        }
    }
}
