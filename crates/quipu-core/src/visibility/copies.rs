//! Copies of sessions: forks, replays, and copies of these. Whoever makes one gets no more power over what it shares with
//! the original than there was: who may be let in, and who was put out, goes by the original too.

use quipu_wire::akashik::JoinRule;

use crate::state::{SessionEntry, State};

/// The sessions that a session is a copy of, the nearest first.
pub(crate) fn originals<'s>(
    state: &'s State,
    session: &SessionEntry,
) -> impl Iterator<Item = (&'s str, &'s SessionEntry)> {
    let names = state.copies.originals(session.name).map(|name| state.names.text(name));
    names.filter_map(|id| Some((id, state.sessions.get(id)?)))
}

/// How one becomes a member: by invitation also where that is so of an original, as it is now.
#[must_use]
pub fn join_rule(state: &State, session: &SessionEntry) -> JoinRule {
    let mut invites = originals(state, session).map(|(_, original)| original.policy.join);
    match session.policy.join {
        JoinRule::Open if invites.all(|join| join == JoinRule::Open) => JoinRule::Open,
        JoinRule::Open | JoinRule::Invite => JoinRule::Invite,
    }
}

/// Whether somebody left an original, or was put out of it, that it cannot enter again by itself.
pub(super) fn is_out_of_original(state: &State, session: &SessionEntry, agent: &str) -> bool {
    originals(state, session).any(|(_, original)| is_out(original, agent))
}

/// Whether somebody left a session for the invited, or was put out of it.
pub(crate) fn is_out(session: &SessionEntry, agent: &str) -> bool {
    session.policy.join == JoinRule::Invite
        && !session.members.contains(agent)
        && session.left_as.contains_key(agent)
}
