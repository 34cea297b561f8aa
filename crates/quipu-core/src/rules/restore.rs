//! Restoring units, an operation of this server alone: what was archived comes back for who may archive, what was withdrawn
//! for who may withdraw. A unit that was replaced comes back when nothing replaces it any more.

use std::collections::BTreeSet;

use quipu_log::{Body, Commit, Header, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        CompactStrategy, RestorePayload, RestoreResponse, RestoredFrom, RestoredUnit, UnitStatus,
    },
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

/// The authority that it takes at least: an author takes back a retraction of its own.
pub const AUTHORITY: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.unit_ids: no unit {unit}")]
    NotFound { unit: String },
    #[error("payload.unit_ids: {unit} was purged")]
    Purged { unit: UnitId },
    /// Somebody else withdrew it, or another agent recorded it.
    #[error("payload.unit_ids: {unit} was withdrawn; only {who} may restore it")]
    NotTheAuthor { unit: UnitId, who: &'static str },
    #[error("payload.unit_ids: {unit} is superseded by {by}; it comes back when {by} is retracted")]
    Replaced { unit: UnitId, by: UnitId },
    #[error("payload.unit_ids: {unit} is {status} and not archived: there is nothing to restore")]
    Nothing { unit: UnitId, status: UnitStatus },
    #[error(
        "payload.unit_ids: what comes back would replace {unit} again, which needs authority {needed}, not {authority}"
    )]
    WouldReplace { unit: UnitId, needed: u8, authority: u8 },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::UnitNotFound,
            Self::NotTheAuthor { .. } | Self::WouldReplace { .. } => {
                ErrorCode::InsufficientAuthority
            }
            Self::Purged { .. } | Self::Replaced { .. } | Self::Nothing { .. } => {
                ErrorCode::InvalidTransition
            }
        }
    }
}

/// A restoration with its reason sealed, once for each unit, so that a purge of one takes its own.
#[derive(Debug, Clone)]
pub struct RestoreCommand {
    units: Vec<(String, Body)>,
}

impl RestoreCommand {
    /// Seals the reason before the writer sees it.
    pub fn prepare(payload: RestorePayload, origin: &dyn Origin) -> Result<Self, CanonError> {
        let text = RetractionBody { purpose: payload.intent.purpose };
        let mut named = BTreeSet::new();
        let units = payload.unit_ids.into_iter().filter(|unit| named.insert(unit.clone()));
        let units = units.map(|unit| Ok((unit, Body::new(origin.salt(), &text)?)));
        Ok(Self { units: units.collect::<Result<_, CanonError>>()? })
    }
}

#[derive(Debug)]
struct Coming<'c> {
    ordinal: u32,
    id: UnitId,
    froms: Vec<RestoredFrom>,
    reason: &'c Body,
}

/// The rule: all of them, or none.
pub fn decide(
    state: &State,
    message: &Message,
    now_ms: u64,
    command: &RestoreCommand,
) -> Result<Decision, Refusal> {
    let caller = admit(state, &message.agent, message.authority, AUTHORITY)?;
    let claim = Claim::of(state, caller, message, now_ms);
    let sight = Sight::by(state, &message.agent, message.session.as_deref(), message.authority);
    let replacements = Replacements::of(state);
    let mut coming = Vec::with_capacity(command.units.len());
    for (unit, reason) in &command.units {
        let missing = || Error::NotFound { unit: unit.clone() };
        let id = UnitId::parse(unit).ok_or_else(missing)?;
        let found = state.units.find(id);
        let found = found.filter(|&ordinal| claim.owns(ordinal) || sight.sees(ordinal));
        let ordinal = found.ok_or_else(missing)?;
        let froms = why_hidden(state, &replacements, (ordinal, id))?;
        let session = state.units.session_of(ordinal).map(|name| state.names.text(name));
        if froms.iter().any(|from| *from != RestoredFrom::Archived) {
            visibility::may_change(state, message.speaker(), session)?;
        }
        if froms.iter().any(|from| *from != RestoredFrom::Retracted) {
            visibility::may_put_away(state, session)?;
            let needed = CompactStrategy::Archive.authority_needed();
            admit(state, &message.agent, message.authority, needed)?;
        }
        if froms.contains(&RestoredFrom::Retracted) {
            may_take_back(state, claim, (ordinal, id))?;
        }
        coming.push(Coming { ordinal, id, froms, reason });
    }
    bring_back(state, claim, &replacements, &coming)
}

fn why_hidden(
    state: &State,
    replacements: &Replacements<'_>,
    (ordinal, unit): (u32, UnitId),
) -> Result<Vec<RestoredFrom>, Error> {
    let missing = || Error::NotFound { unit: unit.to_string() };
    let flags = state.units.flags(ordinal).ok_or_else(missing)?;
    if flags.purged {
        return Err(Error::Purged { unit });
    }
    let mut froms = Vec::new();
    match flags.status {
        UnitStatus::Retracted => froms.push(RestoredFrom::Retracted),
        UnitStatus::Superseded => {
            let by = replacements.stands_for(ordinal, None, &BTreeSet::new());
            match by.and_then(|by| state.units.details(by)) {
                // Archived as well: that much can be undone.
                Some(_) if flags.archived => {}
                Some(by) => return Err(Error::Replaced { unit, by: by.id }),
                None => froms.push(RestoredFrom::Superseded),
            }
        }
        UnitStatus::Active
        | UnitStatus::Draft
        | UnitStatus::Contested
        | UnitStatus::PendingEnrichment => {}
    }
    if flags.archived {
        froms.push(RestoredFrom::Archived);
    }
    if froms.is_empty() {
        return Err(Error::Nothing { unit, status: flags.status });
    }
    Ok(froms)
}

/// A retraction is taken back by who may retract; one that overruled an author, by who may overrule.
fn may_take_back(
    state: &State,
    claim: Claim<'_>,
    (ordinal, unit): (u32, UnitId),
) -> Result<(), Error> {
    let overruled = state.backing.is_overruled(ordinal);
    if claim.authority >= AUTHORITY_MAX || (claim.owns(ordinal) && !overruled) {
        return Ok(());
    }
    let who = if overruled { "authority 10" } else { "its author or authority 10" };
    Err(Error::NotTheAuthor { unit, who })
}

fn bring_back(
    state: &State,
    claim: Claim<'_>,
    replacements: &Replacements<'_>,
    coming: &[Coming<'_>],
) -> Result<Decision, Refusal> {
    let withdrawn = coming.iter().filter(|unit| unit.froms.contains(&RestoredFrom::Retracted));
    let back: BTreeSet<u32> = withdrawn.map(|unit| unit.ordinal).collect();
    let mut standing = Standing::new(state);
    for unit in coming {
        let stays = unit.froms.as_slice() == [RestoredFrom::Archived];
        let to = if stays {
            standing.status(unit.ordinal)
        } else {
            replacements.status_of(unit.ordinal, None, &back)
        };
        for (at, from) in unit.froms.iter().enumerate() {
            let event = Event::UnitRestored { unit: unit.id, from: *from, to };
            standing.push(event, (at == 0).then(|| unit.reason.clone()));
        }
        if !stays {
            standing.change(unit.ordinal, to);
        }
    }
    let again: BTreeSet<u32> = back
        .iter()
        .flat_map(|unit| replacements.by(*unit))
        .filter(|unit| is_current(standing.status(*unit)))
        .collect();
    let for_all = claim.lacks_for_all(&again);
    for unit in again {
        let own = claim.owns(unit);
        if let Some(needed) = claim.lacks(unit).or_else(|| for_all.filter(|_| !own)) {
            let id = state.units.details(unit).map_or(UnitId::from_bits(0), |unit| unit.id);
            let authority = claim.authority;
            return Err(Error::WouldReplace { unit: id, needed, authority }.into());
        }
        standing.change(unit, UnitStatus::Superseded);
    }
    Ok(standing.events)
}

const fn is_current(status: UnitStatus) -> bool {
    match status {
        UnitStatus::Superseded | UnitStatus::Retracted => false,
        UnitStatus::Active
        | UnitStatus::Draft
        | UnitStatus::Contested
        | UnitStatus::PendingEnrichment => true,
    }
}

#[must_use]
pub fn respond(epoch: u64, events: &[SealedEvent<Event>]) -> RestoreResponse {
    let mut response = RestoreResponse {
        status: "ok".to_owned(),
        restored: Vec::new(),
        superseded_units: Vec::new(),
        epoch,
        warnings: Vec::new(),
    };
    for sealed in events {
        if let Event::UnitRestored { unit, from, to } = &sealed.event {
            let (unit_id, was, status) = (unit.to_string(), *from, *to);
            response.restored.push(RestoredUnit { unit_id, was, status });
        } else if let Event::UnitStatusChanged { unit, from, to: UnitStatus::Superseded } =
            &sealed.event
            && is_current(*from)
        {
            response.superseded_units.push(unit.to_string());
        }
    }
    response
}

/// Whether a restoration says what a commit says. What was erased since cannot be compared.
pub(super) fn is_same(command: &RestoreCommand, header: &Header<Event>, commit: &Commit) -> bool {
    let mut asked = command.units.iter();
    let named = (0u32..).zip(&header.events).filter_map(|(at, sealed)| {
        let Event::UnitRestored { unit, .. } = &sealed.event else { return None };
        sealed.body.as_ref().map(|_| (at, *unit))
    });
    let mut same = true;
    for (at, unit) in named {
        same &= asked.next().is_some_and(|(id, reason)| {
            *id == unit.to_string() && commit.body(at).is_none_or(|body| body.json == reason.json)
        });
    }
    same && asked.next().is_none()
}
