//! COMPACT (spec 3.9): archives, summarizes or purges units. Each is one commit, whatever the number of
//! units, and none deletes a commit. The texts of purged units are erased after it (`purge`).

use std::{collections::BTreeSet, mem};

use quipu_log::{Body, DraftEvent, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        CompactFilter, CompactPayload, CompactResponse, CompactStrategy, Fidelity,
        ForeseenSynthesis, MemoryType, Mode, RelationType,
    },
};

use super::{
    Refusal, admit,
    folding::{Holding, is_in_force, originals},
    replacing::recorded_with,
    type_authority,
};
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
    #[error(
        "payload.minimum_fidelity: is {minimum}, and the summaries would keep {found}; nothing was done"
    )]
    TooMuchLost { minimum: String, found: String },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Changed => ErrorCode::Overloaded,
            Self::NotConfirmed { .. } | Self::TooMuchLost { .. } => ErrorCode::InvalidPayload,
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
    /// The middle of the confidences of what it tells.
    pub score: f64,
    /// The task of what it is written from.
    pub task: Option<String>,
    /// The session of what it is written from.
    pub session: Option<String>,
    pub sources: Vec<UnitId>,
    /// The same by ordinal.
    pub ordinals: Vec<u32>,
    /// The summaries of before, by ordinal, in whose place it comes: it was written from their originals.
    pub replaces: Vec<u32>,
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
    minimum_fidelity: Option<f64>,
    epoch: u64,
    before_ms: Option<u64>,
    /// The units that COMPACT wrote before, as the log says.
    earlier: BTreeSet<u32>,
    /// The authority of the caller, above which it replaces no summary.
    authority: u8,
    written: Option<Written>,
}

/// What was written for a summarize, and from what.
#[derive(Debug, Clone)]
pub struct Written {
    pub syntheses: Vec<Synthesis>,
    /// The units that were selected when it was written.
    pub selected: Vec<u32>,
    /// The next ordinal at that time.
    pub end: u32,
    /// How much of the units survives, as it was measured.
    pub fidelity: Option<Fidelity>,
}

impl CompactCommand {
    /// A COMPACT at an epoch and a time in milliseconds since 1970.
    #[must_use]
    pub fn new(payload: CompactPayload, epoch: u64, now_ms: u64) -> Self {
        let CompactPayload { strategy, filter, reason, dry_run: _, confirm, minimum_fidelity } =
            payload;
        let before_ms = filter.before_ms(now_ms);
        Self {
            strategy,
            filter,
            reason,
            confirm,
            minimum_fidelity,
            epoch,
            before_ms,
            earlier: BTreeSet::new(),
            authority: 0,
            written: None,
        }
    }

    #[must_use]
    pub const fn strategy(&self) -> CompactStrategy {
        self.strategy
    }

    /// The same, knowing which units COMPACT wrote before, for a caller of some authority.
    #[must_use]
    pub fn with_earlier(mut self, earlier: BTreeSet<u32>, authority: u8) -> Self {
        (self.earlier, self.authority) = (earlier, authority);
        self
    }

    /// Which units COMPACT wrote before.
    #[must_use]
    pub const fn earlier(&self) -> &BTreeSet<u32> {
        &self.earlier
    }

    /// How much must survive.
    #[must_use]
    pub const fn minimum_fidelity(&self) -> Option<f64> {
        self.minimum_fidelity
    }

    /// The same with the summaries of what [`Self::select`] gave.
    #[must_use]
    pub fn with_summaries(mut self, written: Written) -> Self {
        self.written = Some(written);
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
    /// A summarize leaves out what holds, and takes a summary of before where it takes all that this one stands for.
    pub fn select(&self, state: &State, sight: &Sight<'_>) -> Vec<u32> {
        let Some(asked) = FilterNames::of(self, state) else { return Vec::new() };
        let end = self.written.as_ref().map_or(u32::MAX, |written| written.end);
        let all = 0..state.units.next_ordinal().min(end);
        let sees = |unit: u32| {
            let details = state.units.details(unit);
            details.is_some_and(|details| self.may_take(state, details.session)) && sight.sees(unit)
        };
        let passes = |unit: u32| sees(unit) && asked.passes(state, unit);
        let is_there = |unit: u32| state.units.flags(unit).is_some_and(|flags| flags.archived);
        match self.strategy {
            CompactStrategy::Purge => all.filter(|unit| passes(*unit)).collect(),
            CompactStrategy::Archive => {
                all.filter(|unit| !is_there(*unit) && passes(*unit)).collect()
            }
            CompactStrategy::Summarize => {
                let holding = Holding::of(state, sight, &self.filter, &asked.named);
                let keeps = |unit: u32| {
                    state.units.flags(unit).is_none_or(|flags| holding.keeps(unit, flags))
                };
                let folds = |unit: &u32| {
                    if self.earlier.contains(unit) {
                        let of = originals(state, *unit, &self.earlier);
                        let is_named = asked.named.contains(unit);
                        return !is_there(*unit)
                            && is_in_force(state, *unit)
                            && recorded_with(state, *unit) <= self.authority
                            && !of.is_empty()
                            && sees(*unit)
                            && of.iter().all(|it| sight.sees(*it) && (is_named || passes(*it)));
                    }
                    !is_there(*unit) && passes(*unit) && !keeps(*unit)
                };
                all.filter(folds).collect()
            }
        }
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

/// The filter with its names looked up once.
struct FilterNames<'c> {
    command: &'c CompactCommand,
    session: Option<Name>,
    author: Option<Name>,
    key: Option<Name>,
    named: BTreeSet<u32>,
}

impl<'c> FilterNames<'c> {
    /// None where the filter has a name that nobody bears: then nothing passes.
    fn of(command: &'c CompactCommand, state: &State) -> Option<Self> {
        let known = |name: &Option<String>| match name.as_deref() {
            Some(name) => state.names.find(name).map(Some),
            None => Some(None),
        };
        let filter = &command.filter;
        Some(Self {
            command,
            session: known(&filter.session_id)?,
            author: known(&filter.agent)?,
            key: known(&filter.key)?,
            named: command.named(state),
        })
    }

    fn passes(&self, state: &State, unit: u32) -> bool {
        let (Some(flags), Some(details)) = (state.units.flags(unit), state.units.details(unit))
        else {
            return false;
        };
        let (command, filter) = (self.command, &self.command.filter);
        let age = command.epoch.saturating_sub(details.epoch);
        !flags.purged
            && filter.max_age_epochs.is_none_or(|max| age > max)
            && command.before_ms.is_none_or(|before| details.time_ms < before)
            && self.session.is_none_or(|session| details.session == Some(session))
            && self.author.is_none_or(|author| flags.author == author)
            && self.key.is_none_or(|key| state.unit_keys.of(unit) == Some(key))
            && (filter.unit_ids.is_empty() || self.named.contains(&unit))
            && (filter.types.is_empty() || filter.types.contains(&flags.memory_type))
            && (filter.status.is_empty() || filter.status.contains(&flags.status))
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
    let taken = match command.strategy {
        CompactStrategy::Summarize => units_summarized(state, command, &selected)?,
        CompactStrategy::Archive | CompactStrategy::Purge => selected,
    };
    let found = u64::try_from(taken.len()).unwrap_or(u64::MAX);
    if let Some(confirmed) = command.confirm.filter(|confirmed| *confirmed != found) {
        return Err(Error::NotConfirmed { confirmed, found }.into());
    }
    if taken.is_empty() && hints.is_empty() {
        return Ok(Vec::new());
    }
    may_enter(state, message.speaker(), session)?;
    let (mut events, mut fidelity) = (Vec::new(), None);
    if command.strategy == CompactStrategy::Summarize {
        let authority = author.authority.min(message.authority);
        may_summarize(state, &message.agent, authority)?;
        fidelity = command.written.as_ref().and_then(|written| written.fidelity);
        keeps_enough(command, fidelity)?;
        events = record_summaries(state, message, command, (author, authority));
    }
    let units: Vec<UnitId> =
        taken.iter().filter_map(|at| Some(state.units.details(*at)?.id)).collect();
    let filter = command.filter.clone();
    let event = match command.strategy {
        CompactStrategy::Archive | CompactStrategy::Summarize => Event::UnitsArchived {
            strategy: command.strategy,
            filter,
            reason: command.reason.clone(),
            units,
            fidelity,
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

fn keeps_enough(command: &CompactCommand, fidelity: Option<Fidelity>) -> Result<(), Error> {
    let found = fidelity.map_or(1.0, |fidelity| fidelity.overall);
    match command.minimum_fidelity {
        Some(minimum) if found < minimum => {
            Err(Error::TooMuchLost { minimum: minimum.to_string(), found: found.to_string() })
        }
        Some(_) | None => Ok(()),
    }
}

/// The units that are told in summaries, and the summaries that these replace, if they were written from just what is
/// selected now. What is selected and not among them stays as it is: to say it in brief would be no shorter.
fn units_summarized(
    state: &State,
    command: &CompactCommand,
    selected: &[u32],
) -> Result<Vec<u32>, Error> {
    let written = command.written.as_ref().ok_or(Error::Changed)?;
    let selected: BTreeSet<u32> = selected.iter().copied().collect();
    if !written.selected.iter().eq(&selected) {
        return Err(Error::Changed);
    }
    let mut taken = BTreeSet::new();
    for synthesis in &written.syntheses {
        let is_there = |unit: &u32| state.units.flags(*unit).is_some_and(|flags| flags.archived);
        let of = synthesis.ordinals.iter().filter(|unit| !is_there(unit));
        taken.extend(of.chain(&synthesis.replaces).copied());
    }
    if taken.is_subset(&selected) { Ok(taken.into_iter().collect()) } else { Err(Error::Changed) }
}

/// The summaries as units. None has more authority than the caller, nor than what it was written from.
fn record_summaries(
    state: &State,
    message: &Message,
    command: &CompactCommand,
    (author, authority): (&AgentEntry, u8),
) -> Decision {
    let syntheses = command.written.iter().flat_map(|written| &written.syntheses);
    let least = |synthesis: &Synthesis| {
        let sources = synthesis.ordinals.iter().map(|source| recorded_with(state, *source));
        sources.fold(authority, u8::min)
    };
    let recorded = syntheses.map(|synthesis| DraftEvent {
        event: Event::UnitRecorded {
            unit: synthesis.id,
            mode: Mode::Committed,
            memory_type: MemoryType::Synthesis,
            role: author.role.clone(),
            task: synthesis.task.clone(),
            score: Some(synthesis.score),
            relations: elaborated(state, synthesis)
                .map(|target| Link { kind: RelationType::Elaborates, target })
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
    recorded.collect()
}

/// The ids of what a summary tells, and of the summaries that it replaces.
fn elaborated<'a>(
    state: &'a State,
    synthesis: &'a Synthesis,
) -> impl Iterator<Item = String> + use<'a> {
    let replaced = synthesis.replaces.iter().filter_map(|at| Some(state.units.details(*at)?.id));
    synthesis.sources.iter().copied().chain(replaced).map(|unit| unit.to_string())
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
    let mut fidelity = None;
    for draft in events {
        if let Event::UnitsArchived { fidelity: measured, .. } = &draft.event {
            fidelity = *measured;
        }
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
        elaborates: elaborated(state, synthesis).collect(),
    };
    let syntheses = command.written.as_ref().map(|written| &written.syntheses);
    let response = CompactResponse {
        units_affected: u64::try_from(units.len()).unwrap_or(u64::MAX),
        synthesis_units_created: written,
        units: Some(units.iter().take(COMPACT_NAMED_MAX).map(ToString::to_string).collect()),
        syntheses: syntheses.map(|syntheses| syntheses.iter().map(foreseen).collect()),
        fidelity,
        ..respond(&[])
    };
    Ok(Foreseen { response, units, hints })
}

/// The answer, from what happened. What a purge freed is measured afterwards.
#[must_use]
pub fn respond(events: &[SealedEvent<Event>]) -> CompactResponse {
    let (mut units_affected, mut synthesis_units_created) = (0, 0);
    let mut fidelity = None;
    for sealed in events {
        if let Event::UnitsArchived { fidelity: measured, .. } = &sealed.event {
            fidelity = *measured;
        }
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
        fidelity,
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
