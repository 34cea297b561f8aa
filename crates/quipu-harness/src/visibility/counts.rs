//! How many resources there are that a caller may know of.

use quipu_core::visibility;

use crate::{Caller, Harness, visibility::access::may_know};

/// How many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Sessions, with the built-in one.
    pub sessions: u64,
    /// Tasks.
    pub tasks: u64,
}

impl Harness {
    /// How many Sessions and Tasks there are that the caller may know of.
    #[must_use]
    pub fn counts(&self, caller: &Caller) -> Counts {
        self.field.with_state(|state| {
            let known = state
                .sessions
                .iter()
                .filter(|(_, entry)| visibility::may_know(entry, &caller.agent, caller.authority));
            let tasks = state.tasks.iter();
            let tasks =
                tasks.filter(|(_, entry)| may_know(state, caller, entry.session.as_deref()));
            Counts { sessions: 1 + known.count() as u64, tasks: tasks.count() as u64 }
        })
    }
}
