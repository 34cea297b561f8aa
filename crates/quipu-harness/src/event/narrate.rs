//! Events: the log in this protocol's words. One event of the log is at most one Event here, and its id is its
//! place in the log, so that ids grow in every stream and a cursor never lies.

use quipu_core::{Event as Logged, State};
use quipu_log::{Commit, Header};
use quipu_wire::harn::Event;

use super::narrator::Narrator;
use crate::event::position::EventPosition;

/// The Events of a commit, in order. `state` is any later state of the same log: it knows which session and
/// workspace a thing belongs to.
#[must_use]
pub fn narrate(state: &State, header: &Header<Logged>, commit: &Commit) -> Vec<Event> {
    narrate_with_positions(state, header, commit).into_iter().map(|(_, event)| event).collect()
}

/// The same, each with its place in this log: the id of an Event that was brought here is of another one.
#[must_use]
pub fn narrate_with_positions(
    state: &State,
    header: &Header<Logged>,
    commit: &Commit,
) -> Vec<(EventPosition, Event)> {
    let brought = brought_here(header);
    let places = (0u32..).zip(&header.events);
    let draft = places.filter_map(|(index, sealed)| {
        let narrator = Narrator { state, header, commit, index };
        let draft = narrator.narrate(&sealed.event)?;
        let event = narrator.finish(draft, &sealed.event);
        let own = brought.is_none() || is_imported(&sealed.event);
        let is_shown = own || event.task_id.as_deref() != brought;
        is_shown.then_some((EventPosition((header.position, index)), event))
    });
    draft.collect()
}

/// The task that a commit brought here from another server. What happened to it is what the notes of that
/// commit say, and not that it was brought.
fn brought_here(header: &Header<Logged>) -> Option<&str> {
    header.events.iter().find_map(|sealed| {
        let Logged::TaskNoted { task, note } = &sealed.event else { return None };
        note.imported.as_ref().map(|_| task.as_str())
    })
}

fn is_imported(event: &Logged) -> bool {
    matches!(event, Logged::TaskNoted { note, .. } if note.imported.is_some())
}
