//! Notes which units an event's text is about, besides the unit that it records. A new
//! kind of event whose text is about units joins it here, or a purge leaves that text behind.

use quipu_log::Header;

use crate::{
    event::{Event, coordination::HandoffChange},
    ids::{ConflictId, UnitId},
    state::State,
};

/// Notes which units the text of an event is about. Whoever wrote about a unit that was purged before cannot have read
/// it, so such a text stays.
pub(crate) fn note_text(state: &mut State, header: &Header<Event>, index: u32, event: &Event) {
    for unit in spoken_of(state, event) {
        if state.units.flags(unit).is_some_and(|flags| !flags.purged) {
            state.texts.note(unit, header.position, index);
        }
    }
}

fn spoken_of(state: &State, event: &Event) -> Vec<u32> {
    let find = |units: &[UnitId]| units.iter().filter_map(|id| state.units.find(*id)).collect();
    if let Event::ConflictDetected { conflict, .. }
    | Event::ConflictBallotCast { conflict, .. }
    | Event::ConflictResolved { conflict, .. }
    | Event::ConflictEscalated { conflict, .. } = event
    {
        disputed(state, *conflict)
    } else if let Event::UnitRetracted { unit, .. } | Event::UnitRestored { unit, .. } = event {
        find(&[*unit])
    } else if let Event::HandoffChanged { handoff, change } = event {
        match change {
            HandoffChange::Offered { units, questions, .. } => {
                find(&[units.as_slice(), questions].concat())
            }
            HandoffChange::Moved { .. } => {
                let offer = state.handoffs.get(handoff);
                offer.map_or_else(Vec::new, |offer| {
                    find(&[offer.units.as_slice(), &offer.questions].concat())
                })
            }
        }
    } else if let Event::DocumentChanged { document, id, quotes, .. } = event {
        let known = state.documents.taken(*document, id);
        let known = known.map_or(quotes.as_slice(), |entry| entry.quotes.as_slice());
        find(known)
    } else {
        Vec::new()
    }
}

fn disputed(state: &State, conflict: ConflictId) -> Vec<u32> {
    let entry = state.conflicts.get(conflict);
    entry.map_or_else(Vec::new, |entry| vec![entry.unit_a, entry.unit_b])
}
