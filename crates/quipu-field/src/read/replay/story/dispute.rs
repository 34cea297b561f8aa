//! Where something was disputed, who held what and why, and how that ended.

use std::collections::HashSet;

use quipu_log::EngineError;
use quipu_wire::akashik::{DetectedBy, RelationType};

use super::{
    super::places::{Dispute, EventAddress},
    grounds::Said,
    page::{Page, Part},
    phrases::{BRIEF_CHARS, brief, plain, quoted},
    reader::{Reader, StoryEvent, StoryUnit},
};
use quipu_core::{
    Event, UnitId,
    event::{ConflictBody, ResolutionBody},
    ids::ConflictId,
};

/// Disputes that are told, and ballots of each.
const DISPUTES_MAX: usize = 4;
const BALLOTS_MAX: usize = 4;

/// Tells the disputes about units that were told, in their order.
pub(super) fn explain_disputes(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
) -> Result<usize, EngineError> {
    let mut told: HashSet<ConflictId> = HashSet::new();
    for unit in said.order.clone() {
        let about = reader.places.disputed.get(&unit);
        for conflict in about.into_iter().flatten() {
            if told.len() >= DISPUTES_MAX || told.contains(conflict) {
                continue;
            }
            let Some(dispute) = reader.places.disputes.get(conflict) else { continue };
            if explain_dispute(reader, page, said, dispute)? {
                told.insert(*conflict);
            }
        }
    }
    Ok(told.len())
}

fn explain_dispute(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
    dispute: &Dispute,
) -> Result<bool, EngineError> {
    let Some((older, newer)) = dispute.sides else { return Ok(false) };
    let (Some(a), Some(b)) = (reader.unit(older)?, reader.unit(newer)?) else { return Ok(false) };
    let Some(opening) = opening(reader, dispute, (&older, &a), &b, said)? else {
        return Ok(false);
    };
    let mut sentences = vec![opening];
    sentences.extend(ballots(reader, dispute)?);
    match ending(reader, dispute)? {
        Some((how, why)) => sentences.extend([how].into_iter().chain(why)),
        None => sentences.push("Not settled by then".to_owned()),
    }
    let whole = sentences.join(". ");
    let fits = page.say(Part::Disputes, &whole);
    if fits {
        said.add(older);
        said.add(newer);
    }
    Ok(fits)
}

/// Who contradicted whom and why. What was told before is only recalled.
fn opening(
    reader: &Reader<'_>,
    dispute: &Dispute,
    (older, a): (&UnitId, &StoryUnit),
    b: &StoryUnit,
    said: &Said,
) -> Result<Option<String>, EngineError> {
    let Some(found) = dispute.detected.map(|place| reader.event(place)).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let Event::ConflictDetected { unit_b, detected_by, .. } = &found.event else {
        return Ok(None);
    };
    // What was said before is only recalled, and the reason for it is not said again.
    let name = |id: &UnitId, unit: &StoryUnit| {
        if said.units.contains(id) { unit.recalled() } else { unit.named() }
    };
    let reason = |id: &UnitId, unit: &StoryUnit| {
        let because = unit.because();
        if said.units.contains(id) || because.is_empty() {
            String::new()
        } else {
            format!(". {} held that{because}", unit.author)
        }
    };
    let verb = match detected_by {
        DetectedBy::Explicit => "contradicted",
        DetectedBy::Semantic | DetectedBy::Logical | DetectedBy::Temporal => {
            "was found to disagree with"
        }
    };
    let why = what_disagrees(&found, *detected_by, *older, b)?;
    let epoch = found.epoch;
    Ok(Some(format!(
        "Disputed at epoch {epoch}: {} {verb} {}{why}{}{}",
        name(unit_b, b),
        name(older, a),
        reason(unit_b, b),
        reason(older, a)
    )))
}

/// What is said of a contradiction: by who contradicts, or by the Field.
fn what_disagrees(
    found: &StoryEvent,
    detected_by: DetectedBy,
    older: UnitId,
    newer: &StoryUnit,
) -> Result<String, EngineError> {
    let text = if detected_by == DetectedBy::Explicit {
        let own = |kind, unit| kind == RelationType::Contradicts && unit == older;
        let ground = newer.grounds.iter().find(|ground| own(ground.kind, ground.unit));
        ground.and_then(|ground| ground.description.clone())
    } else {
        found.texts::<ConflictBody>()?.map(|body| body.description)
    };
    Ok(text.map(|text| format!(" ({})", brief(&text, BRIEF_CHARS))).unwrap_or_default())
}

/// Who voted for what and why, oldest first, each agent's last ballot.
pub(super) fn ballots(reader: &Reader<'_>, dispute: &Dispute) -> Result<Vec<String>, EngineError> {
    let mut voters = HashSet::new();
    let mut told = Vec::new();
    for place in &dispute.ballots {
        let Some(found) = reader.event(*place)? else { continue };
        let Event::ConflictBallotCast { choice, .. } = &found.event else { continue };
        if told.len() >= BALLOTS_MAX || !voters.insert(found.actor.clone()) {
            continue;
        }
        let choice = content(reader, *choice)?;
        let why = rationale(&found)?.map(|why| format!(", because: {why}")).unwrap_or_default();
        told.push(format!("{} voted for {choice}{why}", found.actor));
    }
    told.reverse();
    Ok(told)
}

/// How a dispute ended, and why so.
fn ending(
    reader: &Reader<'_>,
    dispute: &Dispute,
) -> Result<Option<(String, Option<String>)>, EngineError> {
    let event = |place: Option<EventAddress>| match place {
        Some(place) => reader.event(place),
        None => Ok(None),
    };
    if let Some(found) = event(dispute.ended)?
        && let Event::ConflictResolved { strategy, .. } = &found.event
    {
        let (actor, epoch) = (&found.actor, found.epoch);
        let how = plain(strategy.as_str());
        let prevails = outcome(reader, &found)?;
        let how = format!("Settled by {actor} at epoch {epoch} by {how}: {prevails}");
        return Ok(Some((how, None)));
    }
    let Some(found) = event(dispute.escalated)? else { return Ok(None) };
    let why = rationale(&found)?.map(|why| format!(", because: {why}")).unwrap_or_default();
    let how = format!("Put before a human by {} at epoch {}{why}", found.actor, found.epoch);
    Ok(Some((how, None)))
}

/// What prevails where a dispute was settled, and the reason that was given.
pub(super) fn outcome(reader: &Reader<'_>, found: &StoryEvent) -> Result<String, EngineError> {
    let Event::ConflictResolved { winner, .. } = &found.event else { return Ok(String::new()) };
    let why = rationale(found)?.map(|why| format!(", because: {why}"));
    let why = why.unwrap_or_else(|| ", for a reason that was purged".to_owned());
    let prevails = match winner {
        Some(unit) => format!("{} prevails", content(reader, *unit)?),
        None => match found.recorded_with(reader.trace.hidden)? {
            Some(text) => format!("both give way to {}", quoted(&text, BRIEF_CHARS)),
            None => "a synthesis replaces both".to_owned(),
        },
    };
    Ok(format!("{prevails}{why}"))
}

pub(super) fn rationale(found: &StoryEvent) -> Result<Option<String>, EngineError> {
    let body: Option<ResolutionBody> = found.texts()?;
    let text = body.map(|body| body.rationale).filter(|text| !text.trim().is_empty());
    Ok(text.map(|text| brief(&text, BRIEF_CHARS)))
}

fn content(reader: &Reader<'_>, unit: UnitId) -> Result<String, EngineError> {
    let told = reader.unit(unit)?;
    Ok(told.map_or_else(|| "a unit that is not told".to_owned(), |unit| unit.content()))
}
