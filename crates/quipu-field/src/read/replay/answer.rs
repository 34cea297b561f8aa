//! REPLAY (spec 3.8): how something came about, from the log alone. Nothing of the Field's state is
//! looked at but whether the caller takes part and what it may not see.

use std::collections::{BTreeSet, HashSet};

use quipu_log::{Engine, FieldName};
use quipu_wire::akashik::{MemoryType, ReplayPayload, ReplayResponse};

use crate::{
    base::error::FieldError,
    read::replay::{
        self, Chain, Found, Target, Trace,
        without::{self, WithoutPlan},
    },
};
use quipu_core::{Refusal, UnitId, rules::replay::Error, visibility::Hidden};

/// To whom it is told.
#[derive(Debug)]
pub(crate) struct Listener {
    /// What it may not know of.
    pub(crate) hidden: Hidden,
    /// The handoffs of which it may know what was said.
    pub(crate) handoffs: HashSet<String>,
    /// Of the units that it wants to think away, those that it may know of, and the others.
    pub(crate) without: (BTreeSet<UnitId>, Vec<String>),
}

pub(crate) fn replay(
    engine: &dyn Engine,
    field: &FieldName,
    events_max: usize,
    listener: &Listener,
    payload: &ReplayPayload,
) -> Result<(ReplayResponse, Option<WithoutPlan>), FieldError> {
    let refuse = |error: Error| FieldError::from(Refusal::from(error));
    let not_found = || Error::of(payload);
    let target = Target::of(payload).ok_or_else(|| refuse(not_found()))?;
    let depth = payload.depth;
    let Listener { hidden, handoffs, .. } = listener;
    let trace = Trace { target: &target, depth, events_max, hidden, handoffs };
    let chain = replay::trace(engine, field, &trace)?
        .ok_or_else(|| refuse(Error::TooLarge { depth, limit: events_max }))?;
    if chain.total == 0 {
        return Err(refuse(not_found()));
    }
    check_decision(&target, &chain).map_err(refuse)?;
    let mut timeline = replay::narrate(engine, field, &chain, &trace)?;
    if payload.explain {
        for (entry, found) in timeline.iter_mut().zip(&chain.events) {
            entry.links = Some(replay::linked(found, hidden));
        }
    }
    let summary = replay::summarize_chain(engine, field, &trace, &chain)?;
    let plan = if payload.without.is_empty() {
        None
    } else {
        without::plan(engine, field, &trace, &chain, &listener.without)?
    };
    let response = ReplayResponse {
        status: "ok".to_owned(),
        timeline,
        summary,
        agents_involved: chain.agents,
        total_events: chain.total,
        without: None,
        warnings: Vec::new(),
    };
    Ok((response, plan))
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
