//! The events of a Task as lines of canonical JSON, each linked to the one before: what the `event_log` of its
//! receipt is the digest of.

use quipu_core::State;
use quipu_wire::{
    harn::{Event, HarnError},
    json::canon,
};

use crate::{Harness, event::narrate::narrate, handle::failure::internal_error};

/// Makes a Task's events into lines of canonical JSON, each linked to the one before.
#[derive(Debug)]
pub(crate) struct EventLog {
    task: String,
    last: Option<String>,
}

impl EventLog {
    pub(crate) fn new(task: &str) -> Self {
        Self { task: task.to_owned(), last: None }
    }

    /// The lines of the events that are the Task's.
    pub(crate) fn lines(
        &mut self,
        events: Vec<Event>,
    ) -> impl Iterator<Item = Result<Vec<u8>, HarnError>> {
        let own = events.into_iter().filter(|event| event.task_id.as_ref() == Some(&self.task));
        own.map(|mut event| {
            event.previous_event_id = self.last.replace(event.envelope.id.clone());
            let mut line =
                canon::to_vec(&event).map_err(|error| internal_error(error.to_string()))?;
            line.push(b'\n');
            Ok(line)
        })
    }
}

pub(crate) fn commits_until(state: &State, task: &str, until: u64) -> Vec<u64> {
    let stream = state.streams.task(task);
    let commits = stream.map_or(&[][..], |stream| stream.commits.as_slice());
    commits.iter().copied().take_while(|position| *position <= until).collect()
}

impl Harness {
    /// The lines of a Task's events up to a commit: the event log of receipts of the older form. Reads storage.
    pub(crate) fn unbound_log(&self, task: &str, until: u64) -> Result<Vec<u8>, HarnError> {
        let commits = self.field.with_state(|state| commits_until(state, task, until));
        let mut log = EventLog::new(task);
        let mut lines = Vec::new();
        for position in commits {
            let (header, commit) = self.commit(position)?;
            let events = self.field.with_state(|state| narrate(state, &header, &commit));
            for line in log.lines(events) {
                lines.extend(line?);
            }
        }
        Ok(lines)
    }
}
