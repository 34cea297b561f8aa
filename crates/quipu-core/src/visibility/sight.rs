//! What one reader sees: session membership, role rules, authority. Every read asks here before it scores, lists or counts
//! anything. The rules are in `docs/protocol/visibility.md`.

use std::collections::BTreeMap;

use quipu_recall::Seen;
use quipu_wire::{akashik::VisibilityRule, limits::AUTHORITY_MAX};

use super::{CREATOR_AUTHORITY, Hidden, Speaker, access::has_part};
use crate::state::{ConflictEntry, Name, SessionEntry, State, TypeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewpoint<'a> {
    /// In one session, or outside of all: as a message of the Akashik Protocol does.
    In(Option<&'a str>),
    /// In all sessions that it has a part in at once, and in the one that it names: as a request of the Harn Protocol
    /// does, whose resources are found by their ids.
    Everywhere(Option<&'a str>),
}

impl<'a> Viewpoint<'a> {
    pub(super) const fn named(self) -> Option<&'a str> {
        match self {
            Self::In(session) | Self::Everywhere(session) => session,
        }
    }
}

/// What one reader sees, worked out once for many units.
#[derive(Debug)]
pub struct Sight<'s> {
    state: &'s State,
    extent: Extent,
    labels: Labels,
    sessions: BTreeMap<Name, TypeSet>,
    /// Of a view of the past: what is seen today. Units have the same ordinals in both.
    today: Option<Box<Self>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Nothing,
    /// What belongs to no session, and what the sessions and labels say.
    Allowed,
    Everything,
}

/// Which of the sessions that nobody opened are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    None,
    Only(Name),
    All,
}

impl<'s> Sight<'s> {
    /// What an agent that is spoken of sees in a session, by its registered role and authority.
    #[must_use]
    pub fn of(state: &'s State, agent: &str, session: Option<&str>) -> Self {
        Self::at(state, Speaker::named(agent), Viewpoint::In(session))
    }

    /// The same through a credential, above whose authority no agent has any.
    #[must_use]
    pub fn by(state: &'s State, agent: &str, session: Option<&str>, credential: u8) -> Self {
        Self::at(state, Speaker::through(agent, credential), Viewpoint::In(session))
    }

    /// What somebody sees where it reads.
    #[must_use]
    pub fn at(state: &'s State, speaker: Speaker<'_>, place: Viewpoint<'_>) -> Self {
        let standing = Standing::of(state, speaker);
        if matches!(place, Viewpoint::Everywhere(_)) && standing.authority >= AUTHORITY_MAX {
            return Self::unlimited(state);
        }
        let seen = |id: &str, entry: &SessionEntry| {
            let reads_in = match place {
                Viewpoint::In(session) => session == Some(id),
                Viewpoint::Everywhere(_) => true,
            };
            state.cross_session
                || entry.policy.cross_session_visibility
                || (reads_in && has_part(state, entry, speaker.agent, standing.authority))
        };
        let sessions = state
            .sessions
            .iter()
            .filter(|(id, entry)| seen(id, entry))
            .map(|(_, entry)| (entry.name, types_allowed(entry, speaker.agent, standing)))
            .collect();
        let label = place.named().filter(|id| state.sessions.get(id).is_none());
        let labels = match label.and_then(|id| state.names.find(id)) {
            _ if state.cross_session => Labels::All,
            Some(name) => Labels::Only(name),
            None => Labels::None,
        };
        Self { state, extent: Extent::Allowed, labels, sessions, today: None }
    }

    /// What somebody sees from whom nothing is hidden.
    #[must_use]
    pub const fn unlimited(state: &'s State) -> Self {
        let sessions = BTreeMap::new();
        Self { state, extent: Extent::Everything, labels: Labels::All, sessions, today: None }
    }

    /// What somebody sees who may read nothing.
    #[must_use]
    pub(super) const fn nothing(state: &'s State) -> Self {
        let sessions = BTreeMap::new();
        Self { state, extent: Extent::Nothing, labels: Labels::None, sessions, today: None }
    }

    /// Of a view of the past, only what is seen today too and was not purged since.
    #[must_use]
    pub fn still_seen_by(mut self, today: Self) -> Self {
        self.today = Some(Box::new(today));
        self
    }

    fn is_gone(&self, unit: u32) -> bool {
        self.today.as_ref().is_some_and(|today| {
            let purged = today.state.units.flags(unit).is_none_or(|flags| flags.purged);
            purged || !today.sees(unit)
        })
    }

    /// Everything that is not seen. `reaches` says of a session whether its tasks and handoffs are.
    #[must_use]
    pub fn hidden(&self, reaches: impl Fn(Option<&str>) -> bool) -> Hidden {
        if self.extent == Extent::Everything {
            return Hidden::default();
        }
        let units = (0..self.state.units.next_ordinal()).filter(|&unit| !self.sees(unit));
        let units = units.filter_map(|unit| Some(self.state.units.details(unit)?.id)).collect();
        let conflicts =
            self.state.conflicts.iter().filter(|conflict| !self.sees_conflict(conflict));
        let tasks = self.state.tasks.iter().filter(|(_, task)| !reaches(task.session.as_deref()));
        let handoffs = self.state.handoffs.iter();
        let handoffs = handoffs.filter(|(_, handoff)| !reaches(handoff.session.as_deref()));
        Hidden {
            units,
            conflicts: conflicts.map(|conflict| conflict.id).collect(),
            tasks: tasks.map(|(id, _)| id.to_owned()).collect(),
            handoffs: handoffs.map(|(id, _)| id.to_owned()).collect(),
        }
    }

    /// Whether a unit is seen, by its ordinal.
    #[must_use]
    pub fn sees(&self, unit: u32) -> bool {
        if self.extent == Extent::Nothing || self.is_gone(unit) {
            return false;
        }
        let Some(session) = self.state.units.session_of(unit) else { return true };
        if self.extent == Extent::Everything {
            return true;
        }
        if let Some(types) = self.sessions.get(&session) {
            return *types == TypeSet::ALL || types.has_all(self.state.units.types_of(unit));
        }
        self.sees_label(session)
    }

    /// Whether what belongs to a session, or to none, is seen at all.
    #[must_use]
    pub fn sees_within(&self, session: Option<Name>) -> bool {
        let Some(session) = session else { return self.extent != Extent::Nothing };
        match self.extent {
            Extent::Nothing => false,
            Extent::Allowed => self.sessions.contains_key(&session) || self.sees_label(session),
            Extent::Everything => true,
        }
    }

    /// Whether a session that nobody opened is seen.
    fn sees_label(&self, session: Name) -> bool {
        match self.labels {
            Labels::None => false,
            Labels::Only(name) => name == session,
            Labels::All => self.state.sessions.get(self.state.names.text(session)).is_none(),
        }
    }

    /// Everything that is seen, worked out once for all units.
    #[must_use]
    pub fn seen(&self) -> Seen {
        let whole = |session: Name| match self.sessions.get(&session) {
            Some(types) => *types == TypeSet::ALL,
            None => self.sees_label(session),
        };
        // Most readers see everything, and then nobody has to look at each unit.
        let all = match self.extent {
            Extent::Nothing => false,
            Extent::Allowed => self.state.units.sessions().all(whole),
            Extent::Everything => true,
        };
        if self.today.is_none() && all {
            return Seen::ALL;
        }
        Seen::only(self.state.units.next_ordinal(), |unit| self.sees(unit))
    }

    /// Whether a conflict is seen: both of its units are.
    #[must_use]
    pub fn sees_conflict(&self, conflict: &ConflictEntry) -> bool {
        self.sees(conflict.unit_a) && self.sees(conflict.unit_b)
    }
}

/// What an agent is, as far as the rules of sessions go by it.
#[derive(Debug, Clone, Copy)]
struct Standing<'a> {
    role: &'a str,
    /// Whether the role was granted to it, and is not only its own word.
    granted: bool,
    authority: u8,
}

impl<'a> Standing<'a> {
    fn of(state: &'a State, speaker: Speaker<'_>) -> Self {
        let known = state.agents.get(speaker.agent);
        Self {
            role: known.map_or("", |agent| agent.role.as_str()),
            granted: known.is_some_and(|agent| !agent.claimed),
            authority: speaker.authority(state),
        }
    }

    /// Whether a rule for a role is for it. Who only says that it is something else is not let out of any rule, unless
    /// it could do away with the rule itself.
    fn is_under(self, role: &str, makes_rules: bool) -> bool {
        if self.granted || makes_rules { self.role == role } else { true }
    }
}

/// What the rules of a session leave for somebody. A denial beats every permission; the human operator is above the
/// rules.
fn types_allowed(session: &SessionEntry, agent: &str, standing: Standing<'_>) -> TypeSet {
    let authority = standing.authority;
    if authority >= AUTHORITY_MAX {
        return TypeSet::ALL;
    }
    let makes_rules = session.creator == agent || authority >= CREATOR_AUTHORITY;
    let rules = session.policy.visibility_rules.iter().filter(|rule| {
        rule.role.as_ref().is_none_or(|role| standing.is_under(role, makes_rules))
            && rule.below_authority.is_none_or(|limit| authority < limit)
    });
    rules.fold(TypeSet::ALL, |types, rule| types.and(left_by(rule)))
}

/// The types that a rule leaves to who is under it.
fn left_by(rule: &VisibilityRule) -> TypeSet {
    let allowed =
        if rule.allow_types.is_empty() { TypeSet::ALL } else { TypeSet::of(&rule.allow_types) };
    allowed.without(TypeSet::of(&rule.deny_types))
}

/// Which rules of its session let a unit be seen, in their order. Units of a session for which it is the same are seen by
/// the same readers.
pub(crate) fn let_by(state: &State, unit: u32) -> Vec<bool> {
    let types = state.units.types_of(unit);
    let session = state.units.session_of(unit).map(|name| state.names.text(name));
    let entry = session.and_then(|session| state.sessions.get(session));
    let rules = entry.into_iter().flat_map(|entry| &entry.policy.visibility_rules);
    rules.map(|rule| left_by(rule).has_all(types)).collect()
}
