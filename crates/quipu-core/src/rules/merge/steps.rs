//! The events of which a settled conflict is made.

use quipu_log::DraftEvent;
use quipu_wire::akashik::{ConflictStatus, UnitStatus};

use super::{Case, Error, Side};
use crate::{
    event::Event,
    ids::UnitId,
    rules::Decision,
    rules::{
        detect::{is_disputed, is_visible_with},
        merge::MergeCommand,
        replacing::{Claim, recorded_with},
    },
};

/// The first step, where nobody took it before.
pub(crate) fn begin(case: &Case<'_>, merge: &MergeCommand, events: &mut Decision) {
    if case.entry.status == ConflictStatus::Detected {
        let (conflict, strategy) = (case.entry.id, merge.strategy);
        let event = Event::ConflictResolving { conflict, strategy, quorum: merge.quorum };
        events.push(DraftEvent { event, body: None });
    }
}

/// The last step: one unit prevails, the other is replaced.
pub(crate) fn settle(
    case: &Case<'_>,
    merge: &MergeCommand,
    winner: &Side<'_>,
    events: &mut Decision,
) {
    resolved(case, merge, Some(winner.id), events);
    let loser = case.other(winner);
    let told = is_visible_with(case.state, loser.ordinal, winner.ordinal);
    replace(case, loser, told, events);
    release(case, winner, events);
}

/// Checks that the caller, or those who voted with a higher authority, may let a unit prevail over the other one.
pub(crate) fn may_settle(
    case: &Case<'_>,
    claim: Claim<'_>,
    winner: &Side<'_>,
    voters: u8,
) -> Result<(), Error> {
    let loser = case.other(winner);
    if !is_visible_with(case.state, loser.ordinal, winner.ordinal) {
        return Ok(());
    }
    may_replace(claim, loser, recorded_with(case.state, winner.ordinal).max(voters))
}

/// Checks that a unit may be replaced: by its own author, by an authority like that with which it was recorded, or
/// by a unit that was recorded with such a one.
pub(crate) fn may_replace(claim: Claim<'_>, side: &Side<'_>, by: u8) -> Result<(), Error> {
    match claim.lacks(side.ordinal) {
        Some(needed) if by < needed && side.stands => {
            Err(Error::Outranked { unit: side.id, needed, authority: claim.authority })
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that a unit may prevail by the word of its own author alone: what gives way to it counts.
pub(crate) fn may_favour(
    case: &Case<'_>,
    claim: Claim<'_>,
    winner: &Side<'_>,
) -> Result<(), Error> {
    let loser = case.other(winner);
    if !claim.is_senders(winner.ordinal)
        || !is_visible_with(case.state, loser.ordinal, winner.ordinal)
    {
        return Ok(());
    }
    may_give_way(claim, &[loser])
}

/// Checks that units may give way to one of the sender's own, besides those of others that did so of late. Who settles
/// between others is not asked.
pub(crate) fn may_give_way(claim: Claim<'_>, sides: &[&Side<'_>]) -> Result<(), Error> {
    let standing: Vec<_> = sides.iter().filter(|side| side.stands).collect();
    let needed = claim.lacks_for_all(&standing.iter().map(|side| side.ordinal).collect());
    let of_other = standing.iter().find(|side| !claim.owns(side.ordinal));
    match needed.zip(of_other) {
        Some((needed, side)) => {
            Err(Error::Outranked { unit: side.id, needed, authority: claim.authority })
        }
        None => Ok(()),
    }
}

/// A unit is replaced, where whoever sees it sees by what. To others it would tell of something hidden.
pub(crate) fn replace(case: &Case<'_>, side: &Side<'_>, told: bool, events: &mut Decision) {
    if told {
        change(side, UnitStatus::Superseded, events);
    } else {
        release(case, side, events);
    }
}

/// A unit is contested no more, if no other conflict contests it.
fn release(case: &Case<'_>, side: &Side<'_>, events: &mut Decision) {
    let held = is_disputed(case.state, side.ordinal, Some(case.entry.id));
    if side.status == UnitStatus::Contested && !held {
        change(side, UnitStatus::Active, events);
    }
}

pub(crate) fn resolved(
    case: &Case<'_>,
    merge: &MergeCommand,
    winner: Option<UnitId>,
    events: &mut Decision,
) {
    let event = Event::ConflictResolved {
        conflict: case.entry.id,
        strategy: merge.strategy,
        winner,
        notified: case.authors(),
    };
    events.push(DraftEvent { event, body: Some(merge.rationale.clone()) });
}

pub(crate) fn escalate(case: &Case<'_>, merge: &MergeCommand, events: &mut Decision) {
    let event = Event::ConflictEscalated {
        conflict: case.entry.id,
        strategy: merge.strategy,
        notified: case.authors(),
    };
    events.push(DraftEvent { event, body: Some(merge.rationale.clone()) });
}

/// A unit's status follows, unless it was replaced or withdrawn before.
fn change(side: &Side<'_>, to: UnitStatus, events: &mut Decision) {
    if side.stands {
        let event = Event::UnitStatusChanged { unit: side.id, from: side.status, to };
        events.push(DraftEvent { event, body: None });
    }
}
