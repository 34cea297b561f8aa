//! The policies of sessions, by which units change the status of others: as they are, or as one of them is about to be.

use quipu_wire::akashik::SessionPolicy;

use crate::state::State;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Policies<'s> {
    pub(crate) state: &'s State,
    coming: Option<(&'s str, &'s SessionPolicy)>,
}

impl<'s> Policies<'s> {
    /// Those of today, but for that of one session.
    pub(super) const fn with(
        state: &'s State,
        session: &'s str,
        policy: &'s SessionPolicy,
    ) -> Self {
        Self { state, coming: Some((session, policy)) }
    }

    /// That of a session. A label that nobody opened has none.
    pub(super) fn of(self, session: &str) -> Option<&'s SessionPolicy> {
        let coming = self.coming.filter(|(id, _)| *id == session).map(|(_, policy)| policy);
        coming.or_else(|| Some(&self.state.sessions.get(session)?.policy))
    }
}

impl<'s> From<&'s State> for Policies<'s> {
    fn from(state: &'s State) -> Self {
        Self { state, coming: None }
    }
}
