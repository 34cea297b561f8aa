//! When a replayed run took place: in recorded time, never by a clock (BI-5). Three `time:` keys stand for the
//! times of the lifecycle itself.

use quipu_wire::harn::{EventKind, EventName, OutcomeStatus, TaskState};

use super::recording::RecordedEvent;

const CREATED: &str = "time:created_at";
const STARTED: &str = "time:started_at";
const COMPLETED: &str = "time:completed_at";

/// The member of a receipt that a lifecycle key stands for.
pub(crate) fn lifecycle_member(key: &str) -> Option<&'static str> {
    match key {
        CREATED => Some("created_at"),
        STARTED => Some("started_at"),
        COMPLETED => Some("completed_at"),
        _ => None,
    }
}

pub(super) fn is_lifecycle_key(key: &str) -> bool {
    lifecycle_member(key).is_some()
}

/// The times of a run and how it ended, as its events tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedLifecycle {
    pub created_at: Option<String>,
    pub started_at: Option<String>,
    /// When it ended, or when the last event was.
    pub completed_at: Option<String>,
    /// How it ended; nothing if the recording has no end.
    pub final_state: Option<OutcomeStatus>,
}

impl RecordedLifecycle {
    pub(super) fn observe(&mut self, event: &RecordedEvent) {
        if self.final_state.is_some() {
            return;
        }
        if self.created_at.is_none() {
            self.created_at = Some(event.at.clone());
        }
        self.completed_at = Some(event.at.clone());
        let EventName::Known(kind) = event.event else { return };
        if kind == EventKind::TaskStarted && self.started_at.is_none() {
            self.started_at = Some(event.at.clone());
        }
        self.final_state = TaskState::ended_by(kind);
    }

    /// Replaces a time by a substitute.
    pub(super) fn substitute(&mut self, key: &str, time: &str) {
        let time = Some(time.to_owned());
        match key {
            CREATED => self.created_at = time,
            STARTED => self.started_at = time,
            COMPLETED => self.completed_at = time,
            _ => {}
        }
    }
}
