//! The events of a replay in process, told again whenever somebody reads them.

use std::ops::ControlFlow;

use quipu_wire::harn::{Event, EventKind, EventName, HarnError};

use super::{document::Executor, finish::Finish, recording::Break};
use crate::{EventPlace, Harness};

impl Harness {
    /// How a replay in process ended, if this is the event that says so. Reads storage.
    pub(crate) fn replay_ended_by(
        &self,
        place: EventPlace,
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

    /// At most so many events of a replay in process, from one on. Reads storage.
    pub(crate) fn replayed_events(
        &self,
        task: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Event>, HarnError> {
        let mut events = Vec::new();
        if limit == 0 {
            return Ok(events);
        }
        let mut passed = 0u64;
        let read = self.each_recorded(task, &mut |recorded| {
            if passed >= from {
                events.push(recorded.into_told());
            }
            passed += 1;
            if events.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match read {
            Err(Break::Storage(error)) => Err(error),
            Ok(_) | Err(Break::Missing(_)) => Ok(events),
        }
    }
}
