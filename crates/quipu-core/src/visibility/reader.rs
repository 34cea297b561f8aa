//! Who reads without sending a message.

use quipu_wire::limits::AUTHORITY_MAX;

use super::{Sight, Speaker, may_reach};
use crate::state::State;

/// Who reads without a message: by a key alone, or for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reader {
    /// The agent that reads, if the request names one.
    pub agent: Option<String>,
    /// The session it reads in.
    pub session: Option<String>,
    /// The authority of its credential.
    pub authority: u8,
}

impl Reader {
    /// The human operator, from whom nothing is hidden.
    #[must_use]
    pub const fn operator() -> Self {
        Self { agent: None, session: None, authority: AUTHORITY_MAX }
    }

    /// What it sees. A key without an agent has no role and is no member of anything; the operator's
    /// sees everything.
    #[must_use]
    pub fn sight<'s>(&self, state: &'s State) -> Sight<'s> {
        match &self.agent {
            None if self.authority >= AUTHORITY_MAX => Sight::unlimited(state),
            agent => {
                let agent = agent.as_deref().unwrap_or("");
                Sight::by(state, agent, self.session.as_deref(), self.authority)
            }
        }
    }

    /// Whether it may know of a task.
    #[must_use]
    pub fn knows_task(&self, state: &State, task: &str) -> bool {
        let owner = state.tasks.get(task).and_then(|task| task.session.as_deref());
        match &self.agent {
            None if self.authority >= AUTHORITY_MAX => true,
            agent => {
                let speaker =
                    Speaker { agent: agent.as_deref().unwrap_or(""), credential: self.authority };
                may_reach(state, speaker, self.session.as_deref(), owner)
            }
        }
    }
}
