//! Which Events are asked for, and where in the log they are.

use quipu_core::{Reader, State, UnitId};
use quipu_wire::harn::{Event, EventKind, EventName};

use crate::{Caller, stored::built_in::SESSION_DEFAULT, visibility::access::reader_reaches};

/// Which Events are asked for. Without anything, all that the caller may know of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventScope {
    pub workspace: Option<String>,
    pub session: Option<String>,
    pub task: Option<String>,
}

impl EventScope {
    #[must_use]
    pub fn task(id: &str) -> Self {
        Self { task: Some(id.to_owned()), ..Self::default() }
    }

    #[must_use]
    pub fn session(id: &str) -> Self {
        Self { session: Some(id.to_owned()), ..Self::default() }
    }

    /// The commits from a position on that may have Events of it, oldest first, at most so many.
    pub(crate) fn commits(&self, state: &State, from: u64, limit: usize) -> Vec<u64> {
        let behind = |commits: &[u64]| {
            let first = commits.partition_point(|position| *position < from);
            commits.iter().skip(first).take(limit).copied().collect()
        };
        if let Some(task) = &self.task {
            return state
                .streams
                .task(task)
                .map(|stream| behind(&stream.commits))
                .unwrap_or_default();
        }
        match &self.session {
            // What belongs to no session has no list of its own.
            Some(session) if session != SESSION_DEFAULT => behind(state.streams.session(session)),
            Some(_) | None => (from.max(1)..=state.position).take(limit).collect(),
        }
    }

    pub(crate) fn has(&self, state: &State, caller: &Caller, event: &Event) -> bool {
        let fits = |asked: &Option<String>, is: &Option<String>| asked.is_none() || asked == is;
        let reader = caller.reader_in(self.session.as_deref());
        fits(&self.task, &event.task_id)
            && fits(&self.session, &event.session_id)
            && fits(&self.workspace, &event.workspace_id)
            && reader_reaches(state, &reader, event.session_id.as_deref())
            && sees_subject(state, &reader, event)
    }
}

/// Whether the reader may know of what an Event of a Task is about, where that is no part of the Task: a memory unit or a
/// handoff may be of another session.
fn sees_subject(state: &State, reader: &Reader, event: &Event) -> bool {
    let named = |member: &str| event.payload.get(member).and_then(|value| value.as_str());
    match event.event {
        EventName::Known(EventKind::AgentMemoryWrite) => {
            let unit = named("memory_id").and_then(UnitId::parse);
            let unit = unit.and_then(|unit| state.units.find(unit));
            unit.is_none_or(|unit| reader.sight(state).sees(unit))
        }
        EventName::Known(EventKind::AgentHandoff) => {
            let handoff = named("handoff_id").and_then(|id| state.handoffs.get(id));
            handoff.is_none_or(|it| reader_reaches(state, reader, it.session.as_deref()))
        }
        EventName::Known(_) | EventName::Vendor(_) => true,
    }
}
