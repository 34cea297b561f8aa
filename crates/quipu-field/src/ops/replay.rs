//! REPLAY (spec 3.8): how something came about, from the log alone. Nothing of the Field's state is
//! looked at but whether the caller takes part and what it may not see.

use quipu_log::{Engine, FieldName};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{MemoryType, ReplayDepth, ReplayPayload, ReplayResponse, ReplayTarget},
};

use super::Refusal;
use crate::{
    failure::storage_failure,
    replaying::{self, Chain, Found, Hidden, Target, Trace},
};

/// The authority that REPLAY needs: none, it is what an auditor has.
pub const AUTHORITY: u8 = 0;

/// Why nothing can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The log knows nothing of it.
    #[error("payload.target_id: no {kind} {id} in the log")]
    NotFound {
        /// What was asked for.
        kind: ReplayTarget,
        /// Which one.
        id: String,
    },
    /// It is a unit, but no decision.
    #[error("payload.target_id: {id} is a {found}, no decision; its target_type is memory_unit")]
    NotADecision {
        /// Which one.
        id: String,
        /// What it is.
        found: MemoryType,
    },
    /// The chain has more events than may be returned.
    #[error("payload.depth: {depth} would return more than {limit} events")]
    TooLarge {
        /// The depth asked for.
        depth: ReplayDepth,
        /// The limit.
        limit: usize,
    },
}

impl Error {
    /// That there is no such thing.
    pub(crate) fn of(payload: &ReplayPayload) -> Self {
        Self::NotFound { kind: payload.target_type, id: payload.target_id.clone() }
    }

    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::NotADecision { .. } => ErrorCode::UnitNotFound,
            Self::TooLarge { .. } => ErrorCode::ReplayTooLarge,
        }
    }
}

/// Reads the log and answers.
pub(crate) fn replay(
    engine: &dyn Engine,
    field: &FieldName,
    events_max: usize,
    hidden: &Hidden,
    payload: &ReplayPayload,
) -> Result<ReplayResponse, ProtocolError> {
    let refuse = |error: Error| ProtocolError::from(Refusal::from(error));
    let not_found = || Error::of(payload);
    let target = Target::of(payload).ok_or_else(|| refuse(not_found()))?;
    let depth = payload.depth;
    let chain =
        replaying::trace(engine, field, &Trace { target: &target, depth, events_max, hidden })
            .map_err(|error| storage_failure(&error))?
            .ok_or_else(|| refuse(Error::TooLarge { depth, limit: events_max }))?;
    if chain.total == 0 {
        return Err(refuse(not_found()));
    }
    check_decision(&target, &chain).map_err(refuse)?;
    let told = replaying::told(engine, field, &chain, &target, depth)
        .map_err(|error| storage_failure(&error))?;
    let summary = replaying::tell(&target, &chain, &told);
    let timeline = match depth {
        ReplayDepth::Summary => Vec::new(),
        ReplayDepth::Detailed | ReplayDepth::FullTrace => {
            let mut timeline: Vec<_> = told.into_iter().map(|told| told.entry).collect();
            if payload.explain {
                for (entry, found) in timeline.iter_mut().zip(&chain.events) {
                    entry.links = Some(replaying::linked(found, hidden));
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
