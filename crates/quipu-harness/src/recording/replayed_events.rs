//! The events of a replay in process, told again whenever somebody reads them.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use quipu_wire::harn::{Event, EventKind, EventName, HarnError};

use super::{document::Executor, finish::Finish, rederive::Read, worked::Break};
use crate::{EventPlace, Harness};

/// How many events are told at once, and of how much text, to who pages through a long replay.
const STRETCH_EVENTS: usize = 1024;
const STRETCH_BYTES: usize = 1 << 20;

/// The stretch of replayed events that was told last. Without it every page would be told from the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stretch(Arc<Mutex<Option<Told>>>);

#[derive(Debug)]
struct Told {
    task: String,
    /// The last purge before it: what was erased since must not be told from here.
    purged: u64,
    first: u64,
    events: Vec<Event>,
    /// Whether nothing comes behind them.
    whole: bool,
}

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

    /// At most so many events of a replay in process, from one on; fewer only at its end. Reads storage.
    pub(crate) fn replayed_events(
        &self,
        task: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Event>, HarnError> {
        let purged = self.field.with_state(|state| state.last_purge);
        if let Some(events) = self.stretch.part(task, purged, from, limit) {
            return Ok(events);
        }
        let (mut events, mut bytes, mut passed) = (Vec::new(), 0, 0u64);
        let read = self.each_recorded(task, &mut |recorded| {
            passed += 1;
            if passed <= from {
                return ControlFlow::Continue(());
            }
            let event = recorded.into_told();
            bytes += serde_json::to_string(&event.payload).map_or(0, |text| text.len());
            events.push(event);
            let full = events.len() >= STRETCH_EVENTS || bytes >= STRETCH_BYTES;
            if full && events.len() >= limit {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let whole = match read {
            Err(Break::Storage(error)) => return Err(error),
            Ok(Read::Stopped) => false,
            Ok(Read::Whole) | Err(Break::Missing(_)) => true,
        };
        let asked = events.iter().take(limit).cloned().collect();
        self.stretch.keep(Told { task: task.to_owned(), purged, first: from, events, whole });
        Ok(asked)
    }
}

impl Stretch {
    /// A part of it, if it holds all of that.
    fn part(&self, task: &str, purged: u64, from: u64, limit: usize) -> Option<Vec<Event>> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.as_ref().filter(|told| told.task == task && told.purged == purged)?;
        let skipped = usize::try_from(from.checked_sub(told.first)?).ok()?;
        let rest = told.events.get(skipped..)?;
        let enough = told.whole || rest.len() >= limit;
        enough.then(|| rest.iter().take(limit).cloned().collect())
    }

    fn keep(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }
}
