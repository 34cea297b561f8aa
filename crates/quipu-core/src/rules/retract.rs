//! Retracting a unit, an operation of this server alone: the protocol has the status and no operation that sets it. Only
//! the author may, or whoever overrules everybody; the reason is required and kept.

use std::collections::BTreeSet;

use quipu_log::{Body, Commit, Header, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{RestoredFrom, RetractPayload, RetractResponse, UnitStatus},
    json::canon::CanonError,
    limits::AUTHORITY_MAX,
};

use super::{
    Refusal, admit,
    pending_status::Standing,
    replacing::{Claim, Replacements},
};
use crate::{
    event::{Event, RetractionBody},
    ids::UnitId,
    message::Message,
    origin::Origin,
    rules::Decision,
    state::State,
    visibility::{self, Sight},
};

/// The authority that an author needs. Who may record a draft may take it back.
pub const AUTHORITY: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.unit_id: no unit {unit}")]
    NotFound { unit: String },
    #[error(
        "payload.unit_id: {unit} was recorded by {author}; only its author, with a key of its own or one with the authority that it had then, \
         or authority 10 may retract it"
    )]
    NotTheAuthor { unit: UnitId, author: String },
    #[error("payload.unit_id: {unit} is {status} already")]
    Final { unit: UnitId, status: UnitStatus },
    #[error("payload.unit_id: {unit} was purged")]
    Purged { unit: UnitId },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::UnitNotFound,
            Self::NotTheAuthor { .. } => ErrorCode::InsufficientAuthority,
            Self::Final { .. } | Self::Purged { .. } => ErrorCode::InvalidTransition,
        }
    }
}

/// A retraction with its reason sealed.
#[derive(Debug, Clone)]
pub struct RetractCommand {
    unit: String,
    reason: Body,
}

impl RetractCommand {
    /// Seals the reason before the writer sees it.
    pub fn prepare(payload: RetractPayload, origin: &dyn Origin) -> Result<Self, CanonError> {
        let text = RetractionBody { purpose: payload.intent.purpose };
        Ok(Self { unit: payload.unit_id, reason: Body::new(origin.salt(), &text)? })
    }
}

pub fn decide(
    state: &State,
    message: &Message,
    now_ms: u64,
    retract: &RetractCommand,
) -> Result<Decision, Refusal> {
    let caller = admit(state, &message.agent, message.authority, AUTHORITY)?;
    let claim = Claim::of(state, caller, message, now_ms);
    let missing = || Error::NotFound { unit: retract.unit.clone() };
    let unit = UnitId::parse(&retract.unit).ok_or_else(missing)?;
    let sight = Sight::by(state, &message.agent, message.session.as_deref(), message.authority);
    // Its author may always withdraw it; to others it is there only if they see it.
    let found =
        state.units.find(unit).filter(|&ordinal| claim.owns(ordinal) || sight.sees(ordinal));
    let ordinal = found.ok_or_else(missing)?;
    let flags = state.units.flags(ordinal).ok_or_else(missing)?;
    let (owns, overrules) = (claim.owns(ordinal), claim.authority >= AUTHORITY_MAX);
    if !owns && !overrules {
        let author = state.names.text(flags.author).to_owned();
        return Err(Error::NotTheAuthor { unit, author }.into());
    }
    let session = state.units.session_of(ordinal).map(|name| state.names.text(name));
    visibility::may_change(state, message.speaker(), session)?;
    if flags.purged {
        return Err(Error::Purged { unit }.into());
    }
    let from = flags.status;
    match from {
        UnitStatus::Superseded | UnitStatus::Retracted => {
            return Err(Error::Final { unit, status: from }.into());
        }
        UnitStatus::Active
        | UnitStatus::Draft
        | UnitStatus::Contested
        | UnitStatus::PendingEnrichment => {}
    }
    let mut standing = Standing::new(state);
    let overruled = flags.author != caller.name;
    let retracted = Event::UnitRetracted { unit, from, overruled };
    standing.push(retracted, Some(retract.reason.clone()));
    standing.change(ordinal, UnitStatus::Retracted);
    restore_replaced(&mut standing, ordinal);
    Ok(standing.events)
}

/// What the unit replaced is back, unless something else replaces it too.
fn restore_replaced(standing: &mut Standing<'_>, withdrawn: u32) {
    let (state, nobody) = (standing.state, BTreeSet::new());
    let replacements = Replacements::of(state);
    for ordinal in replacements.by(withdrawn) {
        let (Some(flags), Some(details)) =
            (state.units.flags(ordinal), state.units.details(ordinal))
        else {
            continue;
        };
        let to = replacements.status_of(ordinal, Some(withdrawn), &nobody);
        let is_back = flags.status == UnitStatus::Superseded && to != UnitStatus::Superseded;
        if is_back && !flags.purged {
            let (unit, from) = (details.id, RestoredFrom::Superseded);
            standing.push(Event::UnitRestored { unit, from, to }, None);
            standing.change(ordinal, to);
        }
    }
}

#[must_use]
pub fn respond(epoch: u64, events: &[SealedEvent<Event>]) -> Option<RetractResponse> {
    let restored = events.iter().filter_map(|sealed| {
        let Event::UnitRestored { unit, .. } = &sealed.event else { return None };
        Some(unit.to_string())
    });
    let restored_units: Vec<String> = restored.collect();
    events.iter().find_map(|sealed| {
        let Event::UnitRetracted { unit, from, .. } = &sealed.event else { return None };
        Some(RetractResponse {
            status: "ok".to_owned(),
            unit_id: unit.to_string(),
            was: *from,
            restored_units: restored_units.clone(),
            epoch,
            warnings: Vec::new(),
        })
    })
}

/// Whether a retraction says what a commit says.
pub(super) fn is_same(retract: &RetractCommand, header: &Header<Event>, commit: &Commit) -> bool {
    (0u32..).zip(&header.events).any(|(at, sealed)| {
        let Event::UnitRetracted { unit, .. } = &sealed.event else { return false };
        unit.to_string() == retract.unit
            && commit.body(at).is_none_or(|body| body.json == retract.reason.json)
    })
}
