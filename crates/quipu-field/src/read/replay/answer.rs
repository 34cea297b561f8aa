//! REPLAY (spec 3.8): how something came about, from the log alone. Nothing of the Field's state is
//! looked at but whether the caller takes part and what it may not see.

use quipu_log::{Engine, FieldName};
use quipu_wire::akashik::{MemoryType, ReplayDepth, ReplayPayload, ReplayResponse};

use crate::{
    base::error::FieldError,
    read::replay::{self, Chain, Found, Target, Trace},
};
use quipu_core::{Refusal, rules::replay::Error, visibility::Hidden};

pub(crate) fn replay(
    engine: &dyn Engine,
    field: &FieldName,
    events_max: usize,
    hidden: &Hidden,
    payload: &ReplayPayload,
) -> Result<ReplayResponse, FieldError> {
    let refuse = |error: Error| FieldError::from(Refusal::from(error));
    let not_found = || Error::of(payload);
    let target = Target::of(payload).ok_or_else(|| refuse(not_found()))?;
    let depth = payload.depth;
    let chain =
        replay::trace(engine, field, &Trace { target: &target, depth, events_max, hidden })?
            .ok_or_else(|| refuse(Error::TooLarge { depth, limit: events_max }))?;
    if chain.total == 0 {
        return Err(refuse(not_found()));
    }
    check_decision(&target, &chain).map_err(refuse)?;
    let narrated = replay::narrate(engine, field, &chain, &target, depth)?;
    let summary = replay::summarize_chain(&target, &chain, &narrated);
    let timeline = match depth {
        ReplayDepth::Summary => Vec::new(),
        ReplayDepth::Detailed | ReplayDepth::FullTrace => {
            let mut timeline: Vec<_> =
                narrated.into_iter().map(|narrated| narrated.entry).collect();
            if payload.explain {
                for (entry, found) in timeline.iter_mut().zip(&chain.events) {
                    entry.links = Some(replay::linked(found, hidden));
                }
            }
            timeline
        }
    };
    Ok(ReplayResponse {
        status: "ok".to_owned(),
        timeline,
        summary,
        agents_involved: chain.agents,
        total_events: chain.total,
        warnings: Vec::new(),
    })
}

/// A decision must be one.
fn check_decision(target: &Target, chain: &Chain) -> Result<(), Error> {
    let Target::Decision(wanted) = target else { return Ok(()) };
    let recorded = chain.origin.as_ref().and_then(Found::recorded).map(|(_, kind)| kind);
    match recorded {
        Some(found) if found != MemoryType::Decision => {
            Err(Error::NotADecision { id: wanted.to_string(), found })
        }
        Some(_) | None => Ok(()),
    }
}
