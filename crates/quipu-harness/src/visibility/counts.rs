//! How many resources there are that a caller may know of.

use crate::{Caller, Harness, visibility::access::reader_reaches};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Sessions, with the built-in one.
    pub sessions: u64,
    pub tasks: u64,
}

impl Harness {
    /// How many Sessions and Tasks there are that the caller may know of.
    #[must_use]
    pub fn counts(&self, caller: &Caller) -> Counts {
        let reader = caller.reader();
        self.field.with_state(|state| {
            let sessions = state.sessions.iter();
            let known = sessions.filter(|(_, entry)| reader.knows_session(state, entry));
            let tasks = state.tasks.iter();
            let tasks =
                tasks.filter(|(_, entry)| reader_reaches(state, &reader, entry.session.as_deref()));
            Counts { sessions: 1 + known.count() as u64, tasks: tasks.count() as u64 }
        })
    }
}
