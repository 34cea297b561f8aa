//! COMPACT (spec 3.9): archives, summarizes or purges units. Each is one commit, whatever the number of
//! units, and none deletes a commit. The texts of purged units are erased after it (`purge`).

use std::{collections::BTreeSet, mem};

use quipu_log::{Body, DraftEvent, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        CompactFilter, CompactPayload, CompactResponse, CompactStrategy, ForeseenSynthesis,
        MemoryType, Mode, RelationType,
    },
};

use super::{Refusal, admit, replacing::recorded_with, type_authority};
use crate::{
    event::{Event, Link},
    ids::{TraceId, UnitId},
    limits::COMPACT_NAMED_MAX,
    message::Message,
    rules::Decision,
    searchable::Searchable,
    state::{AgentEntry, HintEntry, Name, State},
    visibility::{Sight, let_by, may_enter, may_put_away, may_read},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What a summary was written from is not as it was.
    #[error("the units that pass the filter changed while their summary was written")]
    Changed,
    #[error("payload.confirm: is {confirmed}, and it would take {found} units; nothing was done")]
    NotConfirmed { confirmed: u64, found: u64 },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Changed => ErrorCode::Overloaded,
            Self::NotConfirmed { .. } => ErrorCode::InvalidPayload,
        }
    }
}

/// A summary that COMPACT writes, ready to be recorded.
#[derive(Debug, Clone)]
pub struct Synthesis {
    pub id: UnitId,
    /// Its text, sealed.
    pub body: Body,
    /// The same text to be shown where nothing is written.
    pub content: String,
    pub searchable: Searchable,
    /// The lowest confidence of what it is written from.
    pub score: f64,
    /// The task of what it is written from.
    pub task: Option<String>,
    /// The session of what it is written from.
    pub session: Option<String>,
    pub sources: Vec<UnitId>,
    /// The same by ordinal.
    pub ordinals: Vec<u32>,
}

/// What units have in common that are told together, beside their session: which rules show them, so that whoever saw one
/// of them sees the summary, and the authority with which they were recorded, so that it weighs what they weighed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness {
    let_by: Vec<bool>,
    authority: u8,
}

impl Likeness {
    #[must_use]
    pub fn of(state: &State, unit: u32) -> Self {
        Self { let_by: let_by(state, unit), authority: recorded_with(state, unit) }
    }
}

/// A COMPACT with everything observed: the epoch and the time from which ages are counted and, for a summary,
/// what was written.
#[derive(Debug, Clone)]
pub struct CompactCommand {
    strategy: CompactStrategy,
    filter: CompactFilter,
    reason: Option<String>,
    confirm: Option<u64>,
    epoch: u64,
    before_ms: Option<u64>,
    written: Option<Written>,
}

/// The summaries, and the units that were there when they were written.
#[derive(Debug, Clone)]
struct Written {
    syntheses: Vec<Synthesis>,
    end: u32,
}

impl CompactCommand {
    /// A COMPACT at an epoch and a time in milliseconds since 1970.
    #[must_use]
    pub fn new(payload: CompactPayload, epoch: u64, now_ms: u64) -> Self {
        let CompactPayload { strategy, filter, reason, dry_run: _, confirm } = payload;
        let before_ms = filter.before_ms(now_ms);
        Self { strategy, filter, reason, confirm, epoch, before_ms, written: None }
    }

    #[must_use]
    pub const fn strategy(&self) -> CompactStrategy {
        self.strategy
    }

    /// The same with the summaries of what [`Self::select`] gave, when `end` was the next ordinal.
    #[must_use]
    pub fn with_summaries(mut self, syntheses: Vec<Synthesis>, end: u32) -> Self {
        self.written = Some(Written { syntheses, end });
        self
    }

    /// Takes out what the index finds the new units by.
    pub fn take_searchables(&mut self) -> Vec<Searchable> {
        let syntheses = self.written.iter_mut().flat_map(|written| &mut written.syntheses);
        syntheses.map(|synthesis| mem::take(&mut synthesis.searchable)).collect()
    }

    /// The session in which the caller looks: the one that it wants compacted, or its own.
    pub fn session<'a>(&'a self, message: &'a Message) -> Option<&'a str> {
        self.filter.session_id.as_deref().or(message.session.as_deref())
    }

    /// The units that the caller sees, that pass the filter and are not yet where the strategy puts them, oldest first.
    pub fn select(&self, state: &State, sight: &Sight<'_>) -> Vec<u32> {
        let filter = &self.filter;
        let session = filter.session_id.as_deref().map(|session| state.names.find(session));
        if session == Some(None) {
            return Vec::new();
        }
        let author = filter.agent.as_deref().map(|agent| state.names.find(agent));
        if author == Some(None) {
            return Vec::new();
        }
        let key = filter.key.as_deref().map(|key| state.names.find(key));
        if key == Some(None) {
            return Vec::new();
        }
        let named = self.named(state);
        let end = self.written.as_ref().map_or(u32::MAX, |written| written.end);
        let passes = |ordinal: &u32| {
            let (Some(flags), Some(details)) =
                (state.units.flags(*ordinal), state.units.details(*ordinal))
            else {
                return false;
            };
            let age = self.epoch.saturating_sub(details.epoch);
            let is_there = match self.strategy {
                CompactStrategy::Archive | CompactStrategy::Summarize => flags.archived,
                CompactStrategy::Purge => false,
            };
            !flags.purged
                && self.may_take(state, details.session)
                && sight.sees(*ordinal)
                && !is_there
                && filter.max_age_epochs.is_none_or(|max| age > max)
                && self.before_ms.is_none_or(|before| details.time_ms < before)
                && session.is_none_or(|session| details.session == session)
                && author.is_none_or(|author| Some(flags.author) == author)
                && key.is_none_or(|key| state.unit_keys.of(*ordinal) == key)
                && (filter.unit_ids.is_empty() || named.contains(ordinal))
                && (filter.types.is_empty() || filter.types.contains(&flags.memory_type))
                && (filter.status.is_empty() || filter.status.contains(&flags.status))
        };
        (0..state.units.next_ordinal().min(end)).filter(passes).collect()
    }

    /// Whether a unit of a session may be taken: of one that is paused nothing is put away, and everything purged.
    fn may_take(&self, state: &State, session: Option<Name>) -> bool {
        let session = session.map(|name| state.names.text(name));
        self.strategy == CompactStrategy::Purge || may_put_away(state, session).is_ok()
    }

    /// The units that the filter names, as far as they are known.
    fn named(&self, state: &State) -> BTreeSet<u32> {
        let ids = self.filter.unit_ids.iter().filter_map(|id| UnitId::parse(id));
        ids.filter_map(|id| state.units.find(id)).collect()
    }

    /// The hints of traced ATTUNEs that a purge takes along: those of its session or age in epochs. They have
    /// nothing else that a filter asks for, so a purge by anything else takes none.
    fn hints(&self, state: &State, sight: &Sight<'_>) -> Vec<TraceId> {
        let filter = &self.filter;
        let named = filter.session_id.as_deref();
        let session = named.map(|session| state.names.find(session));
        let takes = self.strategy == CompactStrategy::Purge
            && filter.types.is_empty()
            && filter.status.is_empty()
            && filter.older_than.is_none()
            && filter.agent.is_none()
            && filter.key.is_none()
            && filter.unit_ids.is_empty()
            && session != Some(None);
        let passes = |hint: &HintEntry| {
            let age = self.epoch.saturating_sub(hint.epoch);
            !hint.purged
                && sight.sees_within(hint.session)
                && filter.max_age_epochs.is_none_or(|max| age > max)
                && session.is_none_or(|session| hint.session == session)
        };
        let all = state.hints.iter().filter(|_| takes);
        all.filter(|(_, hint)| passes(hint)).map(|(trace, _)| trace).collect()
    }

    /// Why a purge was made, for its tombstone: as told, or by what was asked for.
    fn purge_reason(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.clone();
        }
        let filter = &self.filter;
        let mut parts = Vec::new();
        parts.extend(filter.max_age_epochs.map(|max| format!("older than {max} epochs")));
        parts.extend(filter.session_id.as_ref().map(|session| format!("of session {session}")));
        parts.extend(filter.older_than.as_ref().map(|age| format!("older than {age}")));
        parts.extend(filter.agent.as_ref().map(|agent| format!("recorded by {agent}")));
        parts.extend(filter.key.as_ref().map(|key| format!("recorded through key {key}")));
        if !filter.unit_ids.is_empty() {
            parts.push(format!("by id ({})", filter.unit_ids.len()));
        }
        let listed = |words: Vec<&str>| words.join(" or ");
        if !filter.types.is_empty() {
            let types = filter.types.iter().map(|kind| kind.as_str()).collect();
            parts.push(format!("of type {}", listed(types)));
        }
        if !filter.status.is_empty() {
            let status = filter.status.iter().map(|status| status.as_str()).collect();
            parts.push(format!("of status {}", listed(status)));
        }
        format!("purge of units {}", parts.join(", "))
    }
}

/// The rule. Where no unit passes the filter nothing happens, and that is no error.
pub fn decide(
    state: &State,
    message: &Message,
    command: &CompactCommand,
) -> Result<Decision, Refusal> {
    let needed = command.strategy.authority_needed();
    let author = admit(state, &message.agent, message.authority, needed)?;
    let session = command.session(message);
    may_read(state, message.speaker(), session)?;
    if command.strategy != CompactStrategy::Purge
        && may_enter(state, message.speaker(), session).is_ok()
    {
        may_put_away(state, session)?;
    }
    let sight = Sight::by(state, &message.agent, session, message.authority);
    let (selected, hints) = (command.select(state, &sight), command.hints(state, &sight));
    let found = u64::try_from(selected.len()).unwrap_or(u64::MAX);
    if let Some(confirmed) = command.confirm.filter(|confirmed| *confirmed != found) {
        return Err(Error::NotConfirmed { confirmed, found }.into());
    }
    if selected.is_empty() && hints.is_empty() {
        return Ok(Vec::new());
    }
    may_enter(state, message.speaker(), session)?;
    let mut events = Vec::new();
    if command.strategy == CompactStrategy::Summarize {
        let authority = author.authority.min(message.authority);
        may_summarize(state, &message.agent, authority)?;
        events = record_summaries(state, message, command, (author, authority), &selected)?;
    }
    let units: Vec<UnitId> =
        selected.iter().filter_map(|at| Some(state.units.details(*at)?.id)).collect();
    let filter = command.filter.clone();
    let event = match command.strategy {
        CompactStrategy::Archive | CompactStrategy::Summarize => Event::UnitsArchived {
            strategy: command.strategy,
            filter,
            reason: command.reason.clone(),
            units,
        },
        CompactStrategy::Purge => {
            Event::UnitsPurged { filter, reason: command.purge_reason(), units, hints }
        }
    };
    events.push(DraftEvent { event, body: None });
    Ok(events)
}

/// A summary is a synthesis, and says no less than one that somebody records.
fn may_summarize(state: &State, agent: &str, authority: u8) -> Result<(), type_authority::Error> {
    let says = (MemoryType::Synthesis, Mode::Committed);
    type_authority::check_type_authority(state, (agent, authority), says, || {
        "payload.strategy".to_owned()
    })
}

/// The summaries as units, if they were written from just these units. None has more authority than the caller, nor than
/// what it was written from.
fn record_summaries(
    state: &State,
    message: &Message,
    command: &CompactCommand,
    (author, authority): (&AgentEntry, u8),
    selected: &[u32],
) -> Result<Decision, Error> {
    let written = command.written.as_ref().ok_or(Error::Changed)?;
    let sources: BTreeSet<u32> =
        written.syntheses.iter().flat_map(|synthesis| &synthesis.ordinals).copied().collect();
    if !sources.iter().eq(selected) {
        return Err(Error::Changed);
    }
    let least = |synthesis: &Synthesis| {
        let sources = synthesis.ordinals.iter().map(|source| recorded_with(state, *source));
        sources.fold(authority, u8::min)
    };
    let recorded = written.syntheses.iter().map(|synthesis| DraftEvent {
        event: Event::UnitRecorded {
            unit: synthesis.id,
            mode: Mode::Committed,
            memory_type: MemoryType::Synthesis,
            role: author.role.clone(),
            task: synthesis.task.clone(),
            score: Some(synthesis.score),
            relations: synthesis
                .sources
                .iter()
                .map(|unit| Link { kind: RelationType::Elaborates, target: unit.to_string() })
                .collect(),
            session: synthesis.session.clone(),
            shown: Vec::new(),
            deferred: false,
            authority: Some(least(synthesis)),
            key: message.key.clone(),
            spared: Vec::new(),
        },
        body: Some(synthesis.body.clone()),
    });
    Ok(recorded.collect())
}

/// The units that a purge deleted, and the traces whose hints it deleted.
pub fn purged(events: &[SealedEvent<Event>]) -> (&[UnitId], &[TraceId]) {
    let purged = events.iter().find_map(|sealed| {
        if let Event::UnitsPurged { units, hints, .. } = &sealed.event {
            Some((units.as_slice(), hints.as_slice()))
        } else {
            None
        }
    });
    purged.unwrap_or_default()
}

/// What would be done, by the same rule: how many units it takes and which, and what it writes in their place.
#[derive(Debug)]
pub struct Foreseen {
    /// The answer, but for what only the texts tell.
    pub response: CompactResponse,
    pub units: Vec<UnitId>,
    /// The traces whose hints it takes along.
    pub hints: Vec<TraceId>,
}

/// Decides without writing anything.
pub fn foresee(
    state: &State,
    message: &Message,
    command: &CompactCommand,
) -> Result<Foreseen, Refusal> {
    let events = decide(state, message, command)?;
    let (mut units, mut hints, mut written) = (Vec::new(), Vec::new(), 0);
    for draft in events {
        if let Event::UnitsPurged { hints: of_traces, .. } = &draft.event {
            hints.clone_from(of_traces);
        }
        if let Event::UnitsArchived { units: taken, .. } | Event::UnitsPurged { units: taken, .. } =
            draft.event
        {
            units.extend(taken);
        } else if matches!(draft.event, Event::UnitRecorded { .. }) {
            written += 1;
        }
    }
    let foreseen = |synthesis: &Synthesis| ForeseenSynthesis {
        content: synthesis.content.clone(),
        elaborates: synthesis.sources.iter().map(ToString::to_string).collect(),
    };
    let syntheses = command.written.as_ref().map(|written| &written.syntheses);
    let response = CompactResponse {
        units_affected: u64::try_from(units.len()).unwrap_or(u64::MAX),
        synthesis_units_created: written,
        units: Some(units.iter().take(COMPACT_NAMED_MAX).map(ToString::to_string).collect()),
        syntheses: syntheses.map(|syntheses| syntheses.iter().map(foreseen).collect()),
        ..respond(&[])
    };
    Ok(Foreseen { response, units, hints })
}

/// The answer, from what happened. What a purge freed is measured afterwards.
#[must_use]
pub fn respond(events: &[SealedEvent<Event>]) -> CompactResponse {
    let (mut units_affected, mut synthesis_units_created) = (0, 0);
    for sealed in events {
        if let Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } = &sealed.event
        {
            units_affected += u64::try_from(units.len()).unwrap_or(u64::MAX);
        } else if matches!(sealed.event, Event::UnitRecorded { .. }) {
            synthesis_units_created += 1;
        }
    }
    CompactResponse {
        status: "ok".to_owned(),
        units_affected,
        synthesis_units_created,
        storage_reclaimed_bytes: None,
        units: None,
        syntheses: None,
        warnings: Vec::new(),
    }
}

pub(super) fn is_same(command: &CompactCommand, events: &[SealedEvent<Event>]) -> bool {
    events.iter().any(|sealed| {
        if let Event::UnitsArchived { strategy, filter, reason, .. } = &sealed.event {
            *strategy == command.strategy && *filter == command.filter && *reason == command.reason
        } else if let Event::UnitsPurged { filter, reason, .. } = &sealed.event {
            command.strategy == CompactStrategy::Purge
                && *filter == command.filter
                && *reason == command.purge_reason()
        } else {
            false
        }
    })
}
