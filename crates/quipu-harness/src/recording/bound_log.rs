//! The event log of a receipt, in the form that binds the run: each line with what its event says, and a last line with the
//! Task, its Outcome and its Artifacts. Of a replay that the server carried out, the events as they were replayed.

use quipu_core::{Event as Logged, State};
use quipu_log::{Commit, Header};
use quipu_replay::receipt::{BOUND, event_binding, replayed_line};
use quipu_wire::{
    harn::{Event, HarnError, JsonObject},
    hash::Hasher,
    json::canon,
};
use serde_json::Value;

use super::{document::Executor, exported::exported_event, worked::recorded_in};
use crate::{
    Harness,
    event::event_log::{EventLog, commits_until},
    handle::failure::internal_error,
    narrate_with_positions,
    stored::artifact_marks::LogMarks,
};

impl Harness {
    /// The lines of the event log of a receipt. Reads storage.
    pub(crate) fn event_log(&self, task: &str, marks: &LogMarks) -> Result<Vec<u8>, HarnError> {
        let Some(binding) = &marks.binds else { return self.unbound_log(task, marks.until) };
        let mut lines = Vec::new();
        let replayed = self.replay_document(task)?;
        if replayed.is_some_and(|it| it.executor == Executor::InProcess) {
            self.write_replayed(task, &mut lines)?;
        } else {
            let commits = self.field.with_state(|state| commits_until(state, task, marks.until));
            let mut log = EventLog::new(task);
            for position in commits {
                let (header, commit) = self.commit(position)?;
                for line in log.lines(self.bound_events(task, &header, &commit)) {
                    lines.extend(line?);
                }
            }
        }
        let last = canon::to_vec(binding).map_err(|error| internal_error(error.to_string()))?;
        lines.extend(last);
        lines.push(b'\n');
        Ok(lines)
    }

    /// The digest so far of the log of a replay in process. Reads storage.
    pub(crate) fn replayed_log(&self, task: &str) -> Result<Hasher, HarnError> {
        let mut log = Hasher::new();
        self.write_replayed(task, &mut log)?;
        Ok(log)
    }

    fn write_replayed(&self, task: &str, to: &mut impl std::io::Write) -> Result<(), HarnError> {
        let failed = |error: String| internal_error(error);
        for recorded in self.recording(task)?.until_missing() {
            let line = replayed_line(&exported_event(recorded?));
            let line = line.map_err(|error| failed(error.to_string()))?;
            to.write_all(&line).map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    /// The Events of a commit, those of a task's run with what each of them says bound to it.
    pub(crate) fn bound_events(
        &self,
        task: &str,
        header: &Header<Logged>,
        commit: &Commit,
    ) -> Vec<Event> {
        let narrated =
            self.field.with_state(|state: &State| narrate_with_positions(state, header, commit));
        let bind = |(at, mut event)| {
            let recorded = recorded_in(header, commit, task, at, &event);
            let whole = recorded.filter(|recorded| recorded.gone.is_none());
            let bound = whole.and_then(|it| event_binding(&exported_event(it)).ok());
            if let Some(bound) = bound {
                let bound = Value::Object(bound.0);
                event.envelope.metadata = JsonObject::with(BOUND, bound);
            }
            event
        };
        narrated.into_iter().map(bind).collect()
    }
}
