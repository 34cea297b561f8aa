//! RECORD (spec 3.3): the only way to add knowledge. Also sets what follows from a unit's relations:
//! `supersedes` replaces its target, `contradicts` makes a conflict and contests both units.

use std::{collections::BTreeSet, sync::Arc};

use quipu_log::{Body, BodyContent, Commit, DraftEvent, Header, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        ConflictDetection, ConflictType, DetectedBy, MemoryType, Mode, RecordPayload,
        RecordResponse, RecordStatus, RelationType, UnitStatus,
    },
    canon::CanonError,
};

use super::{
    Refusal, admit,
    detect::{Finding, Place, is_current},
};
use crate::{
    command::{Decision, Drawn, Message},
    event::{ConflictBody, Event, Link, UnitBody},
    ids::{ConflictId, TraceId, UnitId},
    origin::Origin,
    state::{AgentEntry, State},
    visibility::{self, Sight},
    words::UnitWords,
};

/// Why a unit cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What it contradicts or supersedes is not there.
    #[error("payload.relations[{index}].target_id: no unit {target} that it {kind}")]
    TargetNotFound {
        /// Which relation.
        index: usize,
        /// What it names.
        target: String,
        /// What it says.
        kind: RelationType,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TargetNotFound { .. } => ErrorCode::UnitNotFound,
        }
    }
}

/// A RECORD without its free text, which is sealed already, and with everything drawn for it.
#[derive(Debug, Clone)]
pub struct RecordCommand {
    mode: Mode,
    memory_type: MemoryType,
    task: Option<String>,
    score: Option<f64>,
    links: Vec<Link>,
    drawn: Drawn,
    /// Whether the configured embedding model is known to fail: observed before the unit is decided.
    pub(crate) awaits_vector: bool,
    /// What was seen to disagree with it before it was submitted.
    observed: Vec<Finding>,
    /// Whether looking for it was put off, in whole or in part.
    pub(crate) is_deferred: bool,
}

impl RecordCommand {
    /// Prepares a RECORD: draws its ids and salts and seals its text. All of this is
    /// done before the writer sees it, because the writer is one thread.
    pub fn prepare(payload: RecordPayload, origin: &dyn Origin) -> Result<Self, CanonError> {
        let links = payload
            .relations
            .iter()
            .map(|relation| Link { kind: relation.kind, target: relation.target_id.clone() })
            .collect();
        let contradicted =
            || payload.relations.iter().filter(|r| r.kind == RelationType::Contradicts);
        let conflicts = contradicted().map(|_| ConflictId::from_bits(origin.id_bits())).collect();
        let conflict_bodies = contradicted()
            .map(|relation| {
                let description = relation
                    .description
                    .clone()
                    .unwrap_or_else(|| format!("The unit contradicts {}.", relation.target_id));
                Body::new(origin.salt(), &ConflictBody { description })
            })
            .collect::<Result<_, _>>()?;
        let (task, score) =
            (payload.intent.task_id.clone(), payload.confidence.as_ref().and_then(|c| c.score));
        let (mode, memory_type) = (payload.mode, payload.kind);
        let text = unit_body(payload);
        let words = Arc::new(UnitWords::new(text.searchable()));
        let body = Body::new(origin.salt(), &text)?;
        let unit = UnitId::from_bits(origin.id_bits());
        let drawn = Drawn { unit, conflicts, body, conflict_bodies, words };
        Ok(Self {
            mode,
            memory_type,
            task,
            score,
            links,
            drawn,
            awaits_vector: false,
            observed: Vec::new(),
            is_deferred: false,
        })
    }

    /// Takes up what was seen to disagree with it. Whether that makes conflicts is decided later.
    pub(crate) fn observe(&mut self, found: Vec<Finding>) {
        self.observed = found;
    }

    /// The unit's words, for the index.
    #[must_use]
    pub const fn words(&self) -> &Arc<UnitWords> {
        &self.drawn.words
    }

    fn authority_needed(&self) -> u8 {
        match self.mode {
            Mode::Draft => 2,
            Mode::Committed => 4,
        }
    }
}

fn unit_body(payload: RecordPayload) -> UnitBody {
    let descriptions = UnitBody::descriptions_of(&payload.relations);
    let confidence = payload.confidence.unwrap_or_default();
    UnitBody {
        content: payload.content,
        purpose: payload.intent.purpose,
        question: payload.intent.question,
        reasoning: confidence.reasoning,
        evidence: confidence.evidence,
        assumptions: confidence.assumptions,
        descriptions,
    }
}

/// The rule.
pub fn decide(
    state: &State,
    message: &Message,
    record: &RecordCommand,
) -> Result<Decision, Refusal> {
    let author = admit(state, &message.agent, message.authority, record.authority_needed())?;
    visibility::may_write(state, message.speaker(), message.session.as_deref())?;
    check_targets(state, message, record)?;
    let mut events = vec![DraftEvent {
        event: Event::UnitRecorded {
            unit: record.drawn.unit,
            mode: record.mode,
            memory_type: record.memory_type,
            role: author.role.clone(),
            task: record.task.clone(),
            score: record.score,
            relations: record.links.clone(),
            session: None,
            shown: shown(state, author, message),
            deferred: record.is_deferred,
        },
        body: Some(record.drawn.body.clone()),
    }];
    let here = Place { session: message.session.as_deref(), memory_type: record.memory_type };
    let superseded = supersede(state, record, here, &mut events)?;
    let said = contest(state, record, here, &superseded, &mut events)?;
    let mut contested = observed(state, record, here, &superseded, &said, &mut events);
    let tells = |other: &u32| {
        Place::of(state, *other).is_some_and(|there| here.is_open_to_readers(state, there))
    };
    contested.extend(said.iter().copied().filter(tells));
    if !contested.is_empty() && record.mode == Mode::Committed {
        let (from, to) = (UnitStatus::Active, UnitStatus::Contested);
        let event = Event::UnitStatusChanged { unit: record.drawn.unit, from, to };
        events.push(DraftEvent { event, body: None });
    }
    await_vector(record, &mut events);
    Ok(events)
}

/// A committed unit whose vector cannot be had now waits for it, unless it is contested: that matters
/// more.
fn await_vector(record: &RecordCommand, events: &mut Decision) {
    let unit = record.drawn.unit;
    let changed = |draft: &DraftEvent<Event>| matches!(draft.event, Event::UnitStatusChanged { unit: other, .. } if other == unit);
    if record.awaits_vector && record.mode == Mode::Committed && !events.iter().any(changed) {
        let (from, to) = (UnitStatus::Active, UnitStatus::PendingEnrichment);
        let event = Event::UnitStatusChanged { unit, from, to };
        events.push(DraftEvent { event, body: None });
    }
}

/// What the author was shown in this session since it last recorded something, where that was traced.
fn shown(state: &State, author: &AgentEntry, message: &Message) -> Vec<TraceId> {
    match message.session.as_deref().map(|session| state.names.find(session)) {
        // A session that nobody named before is one in which nothing was shown.
        Some(None) => Vec::new(),
        session => state.shown.before(author.name, session.flatten()).to_vec(),
    }
}

/// What the author may not see is, to it, not there.
fn check_targets(state: &State, message: &Message, record: &RecordCommand) -> Result<(), Error> {
    let changes =
        |link: &Link| matches!(link.kind, RelationType::Supersedes | RelationType::Contradicts);
    // Most units change no other, and working out a sight is not free.
    if !record.links.iter().any(changes) {
        return Ok(());
    }
    let sight = Sight::by(state, &message.agent, message.session.as_deref(), message.authority);
    for kind in [RelationType::Supersedes, RelationType::Contradicts] {
        for (index, link) in targets(record, kind) {
            if !sight.sees(find(state, index, link)?) {
                let target = link.target.clone();
                return Err(Error::TargetNotFound { index, target, kind });
            }
        }
    }
    Ok(())
}

/// What the unit replaces is replaced, unless it was already. A draft replaces nothing: it takes the
/// authority of an observer, and an observer changes nothing that others see. Nor does a unit that not
/// all of them see.
fn supersede(
    state: &State,
    record: &RecordCommand,
    here: Place<'_>,
    events: &mut Decision,
) -> Result<BTreeSet<u32>, Error> {
    let mut superseded = BTreeSet::new();
    for (index, link) in targets(record, RelationType::Supersedes) {
        let ordinal = find(state, index, link)?;
        let from = status(state, ordinal);
        let is_final = from == UnitStatus::Superseded || from == UnitStatus::Retracted;
        if !is_told(state, ordinal, here) {
            continue;
        }
        if record.mode == Mode::Committed && !is_final && superseded.insert(ordinal) {
            push_status(state, ordinal, from, UnitStatus::Superseded, events);
        }
    }
    Ok(superseded)
}

/// What the unit contradicts is in conflict with it: one conflict per target, both units contested.
/// Drafts stay drafts and contest nothing, what is final stays final, and where not all who see the
/// target see the unit the target stays as it is; the conflict says enough.
fn contest(
    state: &State,
    record: &RecordCommand,
    here: Place<'_>,
    superseded: &BTreeSet<u32>,
    events: &mut Decision,
) -> Result<BTreeSet<u32>, Error> {
    let mut contested = BTreeSet::new();
    let drawn = record.drawn.conflicts.iter().zip(&record.drawn.conflict_bodies);
    for ((index, link), (conflict, body)) in targets(record, RelationType::Contradicts).zip(drawn) {
        let ordinal = find(state, index, link)?;
        if !contested.insert(ordinal) {
            continue;
        }
        push_conflict(state, record, ordinal, (*conflict, DetectedBy::Explicit, body), events);
        let from = status(state, ordinal);
        let contestable = record.mode == Mode::Committed
            && !superseded.contains(&ordinal)
            && is_told(state, ordinal, here);
        if contestable && from == UnitStatus::Active {
            push_status(state, ordinal, from, UnitStatus::Contested, events);
        }
    }
    Ok(contested)
}

/// What was seen to disagree with the unit is in conflict with it too, if it still can be and the
/// author has not said so already. Gives those for whose sake the unit itself is contested.
fn observed(
    state: &State,
    record: &RecordCommand,
    here: Place<'_>,
    superseded: &BTreeSet<u32>,
    said: &BTreeSet<u32>,
    events: &mut Decision,
) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    let mut contesting = BTreeSet::new();
    for finding in &record.observed {
        let other = finding.other;
        let settled =
            superseded.contains(&other) || said.contains(&other) || !is_current(state, other);
        let Some(there) = Place::of(state, other) else { continue };
        if settled || !seen.insert(other) {
            continue;
        }
        let of = (finding.conflict, finding.detected_by, &finding.body);
        push_conflict(state, record, other, of, events);
        if status(state, other) == UnitStatus::Active && there.is_open_to_readers(state, here) {
            push_status(state, other, UnitStatus::Active, UnitStatus::Contested, events);
        }
        if here.is_open_to_readers(state, there) {
            contesting.insert(other);
        }
    }
    contesting
}

fn push_conflict(
    state: &State,
    record: &RecordCommand,
    other: u32,
    (conflict, detected_by, body): (ConflictId, DetectedBy, &Body),
    events: &mut Decision,
) {
    let event = Event::ConflictDetected {
        conflict,
        conflict_type: conflict_type(state, other, record.memory_type),
        unit_a: state.units.details(other).map_or(record.drawn.unit, |unit| unit.id),
        unit_b: record.drawn.unit,
        detected_by,
    };
    events.push(DraftEvent { event, body: Some(body.clone()) });
}

fn targets(record: &RecordCommand, kind: RelationType) -> impl Iterator<Item = (usize, &Link)> {
    record.links.iter().enumerate().filter(move |(_, link)| link.kind == kind)
}

fn find(state: &State, index: usize, link: &Link) -> Result<u32, Error> {
    UnitId::parse(&link.target).and_then(|id| state.units.find(id)).ok_or_else(|| {
        Error::TargetNotFound { index, target: link.target.clone(), kind: link.kind }
    })
}

fn status(state: &State, ordinal: u32) -> UnitStatus {
    state.units.flags(ordinal).map_or(UnitStatus::Active, |unit| unit.status)
}

fn push_status(
    state: &State,
    ordinal: u32,
    from: UnitStatus,
    to: UnitStatus,
    events: &mut Decision,
) {
    if let Some(unit) = state.units.details(ordinal) {
        let event = Event::UnitStatusChanged { unit: unit.id, from, to };
        events.push(DraftEvent { event, body: None });
    }
}

/// Whether whoever sees a unit sees the new one too.
fn is_told(state: &State, ordinal: u32, here: Place<'_>) -> bool {
    Place::of(state, ordinal).is_some_and(|there| there.is_open_to_readers(state, here))
}

/// Two decisions that disagree are a matter of strategy; everything else is one of fact.
pub(super) fn conflict_type(state: &State, ordinal: u32, memory_type: MemoryType) -> ConflictType {
    let target = state.units.flags(ordinal).map(|unit| unit.memory_type);
    if target == Some(MemoryType::Decision) && memory_type == MemoryType::Decision {
        ConflictType::Strategic
    } else {
        ConflictType::Factual
    }
}

/// The answer, from what happened.
#[must_use]
pub fn respond(epoch: u64, events: &[SealedEvent<Event>]) -> RecordResponse {
    let mut memory_unit_id = String::new();
    let mut conflict_detection = None;
    let mut conflicts_detected = Vec::new();
    let mut warnings = Vec::new();
    for sealed in events {
        if let Event::UnitRecorded { unit, deferred, .. } = &sealed.event {
            memory_unit_id = unit.to_string();
            conflict_detection = deferred.then_some(ConflictDetection::Deferred);
        }
        if let Event::ConflictDetected { conflict, .. } = &sealed.event {
            conflicts_detected.push(conflict.to_string());
        }
        if let Event::UnitStatusChanged { to: UnitStatus::PendingEnrichment, .. } = &sealed.event {
            warnings.push(format!(
                "{}: the embedding model does not answer; the unit is committed and can be found, and will be enriched later",
                ErrorCode::EnrichmentFailed
            ));
        }
    }
    RecordResponse {
        status: RecordStatus::Accepted,
        memory_unit_id,
        epoch,
        conflicts_detected,
        conflict_detection,
        warnings,
    }
}

/// Whether a RECORD says what a commit says. Where the text was erased since, it cannot be compared,
/// and the rest decides.
pub(super) fn is_same(record: &RecordCommand, header: &Header<Event>, commit: &Commit) -> bool {
    let same_header = header.events.iter().any(|sealed| {
        let Event::UnitRecorded { mode, memory_type, task, score, relations, .. } = &sealed.event
        else {
            return false;
        };
        *mode == record.mode
            && *memory_type == record.memory_type
            && *task == record.task
            && score.map(f64::to_bits) == record.score.map(f64::to_bits)
            && *relations == record.links
    });
    let same_text = commit.bodies.first().is_none_or(|stored| match &stored.content {
        BodyContent::Present(body) => body.json == record.drawn.body.json,
        BodyContent::Erased => true,
    });
    same_header && same_text
}
