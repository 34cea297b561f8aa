//! DETECT (spec 3.5): lists what is known to disagree, and notes what a detector finds besides. The
//! finding itself is in `detecting/`, because it reads texts; its verdicts are observations,
//! and whether they make a conflict is decided here.

use std::collections::BTreeSet;

use quipu_log::{Body, DraftEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{DetectFilter, DetectMode, DetectPayload, DetectedBy, MemoryType, Mode, UnitStatus},
};

use super::{Refusal, policies::Policies, record::conflict_type};
use crate::{
    event::Event,
    ids::{ConflictId, UnitId},
    outline::ConflictOutline,
    rules::Decision,
    state::{ConflictEntry, State, TypeSet, UnitDetails},
    visibility::{Sight, is_active},
};

pub const AUTHORITY: u8 = 4;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.target_id: no unit {target}")]
    TargetNotFound { target: String },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TargetNotFound { .. } => ErrorCode::UnitNotFound,
        }
    }
}

/// The unit to check; none in the other modes.
pub fn target(
    state: &State,
    sight: &Sight<'_>,
    payload: &DetectPayload,
) -> Result<Option<u32>, Refusal> {
    match payload.mode {
        DetectMode::List | DetectMode::Scan => Ok(None),
        DetectMode::Check => {
            let target = payload.target_id.as_deref().unwrap_or_default();
            let found = UnitId::parse(target).and_then(|id| state.units.find(id));
            let found = found.filter(|&unit| sight.sees(unit));
            let missing = || Error::TargetNotFound { target: target.to_owned() };
            Ok(Some(found.ok_or_else(missing)?))
        }
    }
}

/// The conflicts that pass the filter, oldest first; for `check` only those of the target.
pub fn detect(
    state: &State,
    sight: &Sight<'_>,
    payload: &DetectPayload,
    behind: Option<ConflictId>,
) -> Result<Vec<ConflictOutline>, Refusal> {
    let target = target(state, sight, payload)?;
    let about = |conflict: &&ConflictEntry| {
        target.is_none_or(|unit| conflict.unit_a == unit || conflict.unit_b == unit)
    };
    Ok(state
        .conflicts
        .behind(behind)
        .filter(about)
        .filter(|conflict| sight.sees_conflict(conflict))
        .filter(|conflict| passes(state, conflict, &payload.filter))
        .map(|conflict| ConflictOutline::of(state, conflict))
        .collect())
}

fn passes(state: &State, conflict: &ConflictEntry, filter: &DetectFilter) -> bool {
    let author = |ordinal| {
        state.units.flags(ordinal).map(|unit| state.names.text(unit.author)).unwrap_or_default()
    };
    let involves = |agent: &String| {
        [conflict.unit_a, conflict.unit_b].into_iter().any(|unit| author(unit) == agent)
    };
    (filter.status.is_empty() || filter.status.contains(&conflict.status))
        && (filter.types.is_empty() || filter.types.contains(&conflict.conflict_type))
        && (filter.involving_agents.is_empty() || filter.involving_agents.iter().any(involves))
}

/// Whether a unit can be in a new conflict: it was neither replaced nor withdrawn nor put away.
#[must_use]
pub fn is_current(state: &State, ordinal: u32) -> bool {
    state.units.flags(ordinal).is_some_and(|unit| match unit.status {
        UnitStatus::Active
        | UnitStatus::Draft
        | UnitStatus::Contested
        | UnitStatus::PendingEnrichment => !unit.archived,
        UnitStatus::Superseded | UnitStatus::Retracted => false,
    })
}

/// Whether the session of a unit takes writes. What is of one that is paused or over stays as it is.
pub(super) fn takes_changes(state: &State, ordinal: u32) -> bool {
    let session = state.units.session_of(ordinal).map(|name| state.names.text(name));
    is_active(state, session).is_ok()
}

/// What a detector found to disagree with a unit, with everything drawn for their conflict.
#[derive(Debug, Clone)]
pub struct Finding {
    pub other: u32,
    pub detected_by: DetectedBy,
    pub conflict: ConflictId,
    /// What disagrees with what, sealed.
    pub body: Body,
}

/// Two units that a detector found to disagree.
#[derive(Debug, Clone)]
pub struct Found {
    pub unit: u32,
    pub finding: Finding,
}

/// Who sees a unit: the session it was recorded in, and the types by which role rules hide it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audience<'s> {
    pub session: Option<&'s str>,
    /// Its types: its own, and those of what it tells.
    types: TypeSet,
}

impl<'s> Audience<'s> {
    pub(crate) fn of(state: &'s State, ordinal: u32) -> Option<Self> {
        state.units.flags(ordinal)?;
        let session = state.units.session_of(ordinal).map(|name| state.names.text(name));
        Some(Self { session, types: state.units.types_of(ordinal) })
    }

    /// That of a unit that is to be recorded.
    pub(crate) fn of_new(
        state: &State,
        session: Option<&'s str>,
        memory_type: MemoryType,
        elaborated: impl IntoIterator<Item = u32>,
    ) -> Self {
        let name = session.and_then(|session| state.names.find(session));
        Self { session, types: state.units.types_of_new(memory_type, name, elaborated) }
    }

    /// Whether whoever sees a unit here sees one there too. Only then may the first be contested
    /// for the other's sake: a status tells of a conflict to whoever sees the unit.
    pub(crate) fn is_open_to_readers<'p>(
        self,
        policies: impl Into<Policies<'p>>,
        there: Self,
    ) -> bool {
        let Some(session) = there.session else { return true };
        let policy = policies.into().of(session);
        let rules = policy.is_some_and(|policy| !policy.visibility_rules.is_empty());
        let shown = policy.is_some_and(|policy| policy.cross_session_visibility);
        (shown && !rules)
            || self.session == Some(session) && (self.types.has_all(there.types) || !rules)
    }
}

/// Whether whoever sees the one unit sees the other too, by their ordinals. Only then does the second
/// change the status of the first.
pub(crate) fn is_visible_with<'s>(policies: impl Into<Policies<'s>>, of: u32, other: u32) -> bool {
    let policies = policies.into();
    match (Audience::of(policies.state, of), Audience::of(policies.state, other)) {
        (Some(here), Some(there)) => here.is_open_to_readers(policies, there),
        _ => false,
    }
}

/// Whether a unit is contested for the sake of an open conflict, one of them left out: of the others,
/// those that whoever sees the unit sees. A draft contests nothing.
pub(crate) fn is_disputed<'s>(
    policies: impl Into<Policies<'s>>,
    unit: u32,
    but: Option<ConflictId>,
) -> bool {
    let policies = policies.into();
    let state = policies.state;
    state.conflicts.open_of(unit).filter(|open| Some(open.id) != but).any(|open| {
        let other = if open.unit_a == unit { open.unit_b } else { open.unit_a };
        let claims = |by: &UnitDetails| by.mode == Mode::Committed;
        state.units.details(other).is_some_and(claims) && is_visible_with(policies, unit, other)
    })
}

/// The rule for what was found: one conflict per pair while unresolved, between units that are still
/// current. Both are contested, but for drafts, and where that would tell of a hidden unit.
pub fn note(state: &State, found: &[Found]) -> Result<Decision, Refusal> {
    let mut events = Decision::new();
    let (mut pairs, mut contested) = (BTreeSet::new(), BTreeSet::new());
    for Found { unit, finding } in found {
        let (a, b) = (*unit.min(&finding.other), *unit.max(&finding.other));
        let (Some(unit_a), Some(unit_b)) = (state.units.details(a), state.units.details(b)) else {
            continue;
        };
        let current = a != b && is_current(state, a) && is_current(state, b);
        if !current || state.conflicts.is_pair_open(a, b) || !pairs.insert((a, b)) {
            continue;
        }
        let (Some(place_a), Some(place_b), Some(flags_b)) =
            (Audience::of(state, a), Audience::of(state, b), state.units.flags(b))
        else {
            continue;
        };
        let event = Event::ConflictDetected {
            conflict: finding.conflict,
            conflict_type: conflict_type(state, a, flags_b.memory_type),
            unit_a: unit_a.id,
            unit_b: unit_b.id,
            detected_by: finding.detected_by,
        };
        events.push(DraftEvent { event, body: Some(finding.body.clone()) });
        let drafted = [unit_a, unit_b].iter().any(|unit| unit.mode == Mode::Draft);
        let sides = [(a, unit_a.id, place_a, place_b), (b, unit_b.id, place_b, place_a)];
        for (ordinal, unit, here, there) in sides {
            let from = state.units.flags(ordinal).map(|unit| unit.status);
            let open =
                here.is_open_to_readers(state, there) && takes_changes(state, ordinal) && !drafted;
            if open && from == Some(UnitStatus::Active) && contested.insert(ordinal) {
                let (from, to) = (UnitStatus::Active, UnitStatus::Contested);
                let event = Event::UnitStatusChanged { unit, from, to };
                events.push(DraftEvent { event, body: None });
            }
        }
    }
    Ok(events)
}
