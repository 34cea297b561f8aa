//! Who reads without sending a message, and what it may read: the one place that both protocols ask, whatever they call
//! the thing that is read. The rules are in `docs/protocol/visibility.md`.

use quipu_wire::limits::AUTHORITY_MAX;

use super::{READ_AUTHORITY, Sight, Speaker, Viewpoint, may_know, may_reach};
use crate::state::{SessionEntry, State};

/// Who reads without a message: by a key alone, or for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reader {
    pub agent: Option<String>,
    pub session: Option<String>,
    /// The authority of its credential.
    pub authority: u8,
    /// Whether it reads in all of its sessions at once, and not in the one alone that it names.
    pub everywhere: bool,
}

impl Reader {
    /// The human operator, from whom nothing is hidden.
    #[must_use]
    pub const fn operator() -> Self {
        Self { agent: None, session: None, authority: AUTHORITY_MAX, everywhere: false }
    }

    /// What it sees of the units and the conflicts. A key without an agent has no role and is no member of anything; the
    /// operator's sees everything.
    #[must_use]
    pub fn sight<'s>(&self, state: &'s State) -> Sight<'s> {
        if self.is_operator() {
            return Sight::unlimited(state);
        }
        if !self.may_read(state) {
            return Sight::nothing(state);
        }
        let session = self.session.as_deref();
        let place =
            if self.everywhere { Viewpoint::Everywhere(session) } else { Viewpoint::In(session) };
        Sight::at(state, self.speaker(), place)
    }

    /// Whether it may read what is within a session, given by its id, or within none: tasks, handoffs, and all
    /// that the Harn Protocol keeps there, such as messages, artifacts, receipts and events.
    #[must_use]
    pub fn reaches(&self, state: &State, owner: Option<&str>) -> bool {
        let reach = || may_reach(state, self.speaker(), self.session.as_deref(), owner);
        self.is_operator() || self.may_read(state) && reach()
    }

    /// Whether it may know that a session exists, and what it is for.
    #[must_use]
    pub fn knows_session(&self, state: &State, session: &SessionEntry) -> bool {
        let speaker = self.speaker();
        let knows = || may_know(state, session, speaker.agent, speaker.authority(state));
        self.is_operator() || self.may_read(state) && knows()
    }

    #[must_use]
    pub fn knows_task(&self, state: &State, task: &str) -> bool {
        let owner = state.tasks.get(task).and_then(|task| task.session.as_deref());
        self.reaches(state, owner)
    }

    fn is_operator(&self) -> bool {
        self.agent.is_none() && self.authority >= AUTHORITY_MAX
    }

    fn may_read(&self, state: &State) -> bool {
        self.speaker().authority(state) >= READ_AUTHORITY
    }

    fn speaker(&self) -> Speaker<'_> {
        Speaker::through(self.agent.as_deref().unwrap_or(""), self.authority)
    }
}
