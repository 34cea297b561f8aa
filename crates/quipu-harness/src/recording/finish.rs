//! How a replay in process ended: one note in the log, with the number of events that were replayed. From its
//! place come the ids and numbers of those events, which lie before it and behind everything else.

use quipu_core::Event as Logged;
use quipu_wire::harn::{EventKind, HarnError, JsonObject, ResourceKind};
use serde_json::Value;

use crate::{
    EventPosition, Harness, NoteBody, event::commits::TaskCommits, handle::failure::harn_error,
};

/// The note that ends a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) place: EventPosition,
    pub(crate) events: u64,
}

/// Digits of a replayed event's number.
const DIGITS: usize = 10;

impl Finish {
    /// What the ids of the replayed events start with. The number before the note's own: ids then sort as the
    /// stream goes.
    pub(crate) fn event_prefix(&self) -> String {
        let before = self.place.sequence().saturating_sub(1);
        ResourceKind::Event.id(&format!("{before:016x}"))
    }

    pub(crate) fn event_id(&self, ordinal: u64) -> String {
        format!("{}_{ordinal:010}", self.event_prefix())
    }

    /// The number of a replayed event. The numbers of a commit suffice for a million of them.
    pub(crate) fn sequence_of(&self, ordinal: u64) -> u64 {
        let first = self.place.sequence().saturating_sub(self.events);
        first.saturating_add(ordinal)
    }

    /// The place of the note and the number of the event that an id of a replayed event names.
    pub(crate) fn parse(id: &str) -> Option<(EventPosition, u64)> {
        let (prefix, ordinal) = id.rsplit_once('_')?;
        let plain = ordinal.len() == DIGITS && ordinal.bytes().all(|byte| byte.is_ascii_digit());
        let before = EventPosition::parse(prefix).filter(|_| plain)?;
        let place = EventPosition::at(before.sequence().checked_add(1)?);
        Some((place, ordinal.parse().ok()?))
    }
}

impl Harness {
    /// How a task's replay ended; nothing while it runs or if there is none. Reads storage.
    pub(crate) fn finish_of(&self, task: &str) -> Result<Option<Finish>, HarnError> {
        Ok(self.finish_noted(task)?.map(|(finish, _)| finish))
    }

    /// The same, with what was noted. Reads storage.
    pub(crate) fn finish_noted(
        &self,
        task: &str,
    ) -> Result<Option<(Finish, JsonObject)>, HarnError> {
        for commit in TaskCommits::last(self, task, 4) {
            let (header, _) = commit?;
            for (index, sealed) in (0u32..).zip(&header.events) {
                let Logged::TaskNoted { task: of, note } = &sealed.event else { continue };
                if of != task || !ends_replay(&note.event) {
                    continue;
                }
                let place = EventPosition((header.position, index));
                let body = self.field.body_at::<NoteBody>(place.0);
                let body = body.map_err(|error| harn_error(&error))?.unwrap_or_default();
                let events = body.payload.get("events").and_then(Value::as_u64).unwrap_or(0);
                return Ok(Some((Finish { place, events }, body.payload)));
            }
        }
        Ok(None)
    }
}

pub(crate) fn ends_replay(event: &str) -> bool {
    event == EventKind::ReplayCompleted.as_str() || event == EventKind::ReplayFailed.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_replayed_events_lie_before_the_note_and_behind_all_else_and_are_read_back() {
        let finish = Finish { place: EventPosition((7, 0)), events: 3 };
        let id = |ordinal: u64| format!("{}_{ordinal:010}", finish.event_prefix());
        assert!(EventPosition((6, 9)).id() < id(0));
        assert!(id(0) < id(1) && id(9) < id(10));
        assert!(id(2) < finish.place.id());
        assert_eq!(Finish::parse(&id(2)), Some((finish.place, 2)));
        assert_eq!(Finish::parse(&finish.place.id()), None);
        assert!(EventPosition((6, 9)).sequence() < finish.sequence_of(0));
        assert!(finish.sequence_of(2) < finish.place.sequence());
    }

    #[test]
    fn the_numbers_of_a_million_replayed_events_lie_behind_the_commit_before() {
        let finish = Finish { place: EventPosition((7, 1)), events: 1_000_000 };
        assert!(EventPosition((6, 9)).sequence() < finish.sequence_of(0));
        assert!(finish.sequence_of(999_999) < finish.place.sequence());
    }
}
