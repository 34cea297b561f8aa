//! Which of two units prevails, where the Field computes it. A tie is no winner, and a caller
//! that names another one is told so.

use std::cmp::Ordering;

use quipu_wire::akashik::ConflictStrategy;

use super::{
    Error,
    case::{Case, Side, is_final},
};
use crate::rules::{merge::MergeCommand, replacing::recorded_with};

/// The unit that prevails. Where only one of them still stands it is that one, by any strategy.
pub(crate) fn prevailing<'case, 'state>(
    case: &'case Case<'state>,
    merge: &MergeCommand,
    caller: u8,
) -> Result<&'case Side<'state>, Error> {
    let named = merge.winner.as_deref().map(|winner| case.named(winner)).transpose()?;
    if let Some(named) = named
        && merge.strategy == ConflictStrategy::Authority
        && caller > authority(case, &case.a).max(authority(case, &case.b))
    {
        let stands = named.stands.then_some(named);
        return stands.ok_or(Error::DoesNotStand { winner: named.id });
    }
    let computed = compute(case, merge)?;
    match named {
        Some(named) if named.id != computed.id => Err(Error::Disagrees {
            winner: named.id,
            computed: computed.id,
            strategy: merge.strategy,
        }),
        Some(_) | None => Ok(computed),
    }
}

fn compute<'case, 'state>(
    case: &'case Case<'state>,
    merge: &MergeCommand,
) -> Result<&'case Side<'state>, Error> {
    let (a, b) = (&case.a, &case.b);
    let conflict = case.entry.id;
    let order = match (a.stands, b.stands) {
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => return Err(Error::NeitherStands { conflict }),
        (true, true) => compare(case, merge),
    };
    match order {
        Ordering::Greater => Ok(a),
        Ordering::Less => Ok(b),
        Ordering::Equal => Err(Error::Tie { conflict, strategy: merge.strategy }),
    }
}

fn compare(case: &Case<'_>, merge: &MergeCommand) -> Ordering {
    let (a, b) = (&case.a, &case.b);
    match merge.strategy {
        ConflictStrategy::LastWriteWins => (a.details.epoch, a.id).cmp(&(b.details.epoch, b.id)),
        ConflictStrategy::ConfidenceWeighted => match (a.details.score, b.details.score) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        },
        ConflictStrategy::EvidenceCount => {
            let a = (support(case, a), merge.evidence.unit_a);
            a.cmp(&(support(case, b), merge.evidence.unit_b))
        }
        ConflictStrategy::Authority => authority(case, a).cmp(&authority(case, b)),
        // Nothing to compute: these are decided by text, by a human, or by ballots.
        ConflictStrategy::Synthesis
        | ConflictStrategy::HumanEscalation
        | ConflictStrategy::Vote => Ordering::Equal,
    }
}

/// The authority with which a unit was recorded.
fn authority(case: &Case<'_>, side: &Side<'_>) -> u8 {
    recorded_with(case.state, side.ordinal)
}

/// How many units support this one and still stand themselves.
fn support(case: &Case<'_>, side: &Side<'_>) -> usize {
    let units = &case.state.units;
    let stands = |unit: &&u32| units.flags(**unit).is_some_and(|unit| !is_final(unit.status));
    units.supporters(side.ordinal).iter().filter(stands).count()
}
