//! The events of a replay in process, derived again whenever somebody reads them.

use quipu_wire::harn::{Event, EventKind, EventName, HarnError};

use super::{document::Executor, finish::Finish};
use crate::{EventPosition, Harness, handle::replayed_cache::Stretch};

/// How many events are derived and kept at once, and of how much text, for whoever pages through a long replay.
const CACHED_EVENTS: usize = 1024;
const CACHED_BYTES: usize = 1 << 20;

impl Harness {
    /// How a replay in process ended, if this is the event that says so. Reads storage.
    pub(crate) fn replay_ended_by(
        &self,
        place: EventPosition,
        event: &Event,
    ) -> Result<Option<Finish>, HarnError> {
        let ends = matches!(
            event.event,
            EventName::Known(EventKind::ReplayCompleted | EventKind::ReplayFailed)
        );
        let Some(task) = event.task_id.as_ref().filter(|_| ends && !event.replayed) else {
            return Ok(None);
        };
        let events = event.payload.get("events").and_then(serde_json::Value::as_u64);
        let Some(events) = events.filter(|events| *events > 0) else { return Ok(None) };
        let document = self.replay_document(task)?;
        let in_process = document.is_some_and(|it| it.executor == Executor::InProcess);
        Ok(in_process.then_some(Finish { place, events }))
    }

    /// At most so many events of a replay in process, from one on; fewer only at its end. Reads storage.
    pub(crate) fn replayed_events(
        &self,
        task: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Event>, HarnError> {
        let purged = self.field.with_state(|state| state.last_purge);
        if let Some(events) = self.replayed.part(task, purged, from, limit) {
            return Ok(events);
        }
        let (mut events, mut bytes, mut whole) = (Vec::new(), 0, true);
        for (ordinal, recorded) in (0u64..).zip(self.recording(task)?.until_missing()) {
            let event = recorded?.narrated;
            if ordinal < from {
                continue;
            }
            bytes += serde_json::to_string(&event.payload).map_or(0, |text| text.len());
            events.push(event);
            let full = events.len() >= CACHED_EVENTS || bytes >= CACHED_BYTES;
            if full && events.len() >= limit {
                whole = false;
                break;
            }
        }
        let page = events.iter().take(limit).cloned().collect();
        self.replayed.keep(Stretch { task: task.to_owned(), purged, first: from, events, whole });
        Ok(page)
    }
}
