//! RECORD (spec 3.3): the only way to add knowledge, one unit or several in one commit. Also sets what
//! follows from a unit's relations: `supersedes` replaces its target where the author may, and else makes a conflict;
//! `contradicts` makes a conflict and contests both units.

use std::{collections::BTreeSet, mem};

use quipu_log::{Body, BodyContent, Commit, Header, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        ConflictDetection, ConflictType, DetectedBy, MemoryType, Mode, RecordPayload,
        RecordResponse, RecordStatus, Relation, RelationType, UnitStatus,
    },
    json::canon::CanonError,
};

use super::{
    Refusal, admit,
    detect::{Audience, Finding, takes_changes},
    pending_status::Standing,
    replacing::{Claim, recorded_with},
    type_authority::check_type_authority,
};
use crate::{
    event::{ConflictBody, Event, Link, Spared, UnitBody},
    ids::{ConflictId, TraceId, UnitId},
    limits::{REPLACE_MANY_AUTHORITY, REPLACED_MAX, REPLACED_WITHIN},
    message::Message,
    origin::Origin,
    rules::Decision,
    searchable::Searchable,
    state::{AgentEntry, State},
    visibility::{self, Sight},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{path}.relations[{index}].target_id: no unit {target} that it {kind}")]
    TargetNotFound {
        /// Which unit of the payload.
        path: String,
        /// Which relation.
        index: usize,
        target: String,
        kind: RelationType,
    },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TargetNotFound { .. } => ErrorCode::UnitNotFound,
        }
    }
}

/// The ids and the body that a RECORD may need, drawn before it is decided.
#[derive(Debug, Clone)]
struct Drawn {
    unit: UnitId,
    /// One id per `contradicts` relation.
    conflicts: Vec<ConflictId>,
    /// The unit's free text, sealed with its salt.
    body: Body,
    /// The free text of each conflict, in the order of `conflicts`.
    conflict_bodies: Vec<Body>,
    /// A conflict per `supersedes` relation, for where the author may not replace what it names.
    spared: Vec<(ConflictId, Body)>,
    searchable: Searchable,
}

/// A unit to record, without its free text, which is sealed already, and with everything drawn for it.
#[derive(Debug, Clone)]
pub struct RecordCommand {
    path: String,
    mode: Mode,
    memory_type: MemoryType,
    task: Option<String>,
    score: Option<f64>,
    links: Vec<Link>,
    drawn: Drawn,
    /// Whether the configured embedding model is known to fail: observed before the unit is decided.
    pub awaits_vector: bool,
    /// What was seen to disagree with it before it was submitted.
    observed: Vec<Finding>,
    /// Whether looking for it was put off, in whole or in part.
    pub is_deferred: bool,
}

impl RecordCommand {
    /// Prepares a unit: draws its ids and salts and seals its text. All of this is
    /// done before the writer sees it, because the writer is one thread.
    pub fn prepare(
        path: String,
        payload: RecordPayload,
        origin: &dyn Origin,
    ) -> Result<Self, CanonError> {
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
        let spared = payload.relations.iter().filter(|r| r.kind == RelationType::Supersedes);
        let spared = spared.map(|relation| prepare_spared(relation, origin));
        let spared = spared.collect::<Result<_, _>>()?;
        let (task, score) =
            (payload.intent.task_id.clone(), payload.confidence.as_ref().and_then(|c| c.score));
        let (mode, memory_type) = (payload.mode, payload.kind);
        let text = unit_body(payload);
        let searchable = text.searchable();
        let body = Body::new(origin.salt(), &text)?;
        let unit = UnitId::from_bits(origin.id_bits());
        let drawn = Drawn { unit, conflicts, body, conflict_bodies, spared, searchable };
        Ok(Self {
            path,
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
    pub fn observe(&mut self, found: Vec<Finding>) {
        self.observed = found;
    }

    /// Takes out what the index finds the unit by.
    pub fn take_searchable(&mut self) -> Searchable {
        mem::take(&mut self.drawn.searchable)
    }

    fn authority_needed(&self) -> u8 {
        match self.mode {
            Mode::Draft => 2,
            Mode::Committed => 4,
        }
    }
}

/// The conflict between a unit and one that it may not replace.
fn prepare_spared(
    relation: &Relation,
    origin: &dyn Origin,
) -> Result<(ConflictId, Body), CanonError> {
    let target = &relation.target_id;
    let mut description = format!(
        "The unit says that it supersedes {target}, which stays as it is: to replace what another agent recorded \
         takes the authority that it was recorded with, and {REPLACE_MANY_AUTHORITY} for more than {REPLACED_MAX} \
         units within {REPLACED_WITHIN} commits and a day."
    );
    if let Some(said) = &relation.description {
        description.push_str(&format!(" It gives this reason: {said}"));
    }
    let body = Body::new(origin.salt(), &ConflictBody { description })?;
    Ok((ConflictId::from_bits(origin.id_bits()), body))
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

/// The rule: all units, each on what those before it leave, or none.
pub fn decide(
    state: &State,
    message: &Message,
    now_ms: u64,
    units: &[RecordCommand],
) -> Result<Decision, Refusal> {
    let needed = units.iter().map(RecordCommand::authority_needed).max().unwrap_or_default();
    let author = admit(state, &message.agent, message.authority, needed)?;
    let claim = Claim::of(state, author, message, now_ms);
    for unit in units {
        let says = (unit.memory_type, unit.mode);
        let path = || format!("{}.type", unit.path);
        check_type_authority(state, (&message.agent, claim.authority), says, path)?;
    }
    visibility::may_write_within(state, message.speaker(), message.session.as_deref())?;
    for unit in units {
        check_targets(state, message, unit)?;
    }
    let replaced = units.iter().map(|unit| replaceable(state, claim, unit));
    let replaced = replaced.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let right = Right { author, claim, lacks_for_all: claim.lacks_for_all(&replaced) };
    let mut standing = Standing::new(state);
    for unit in units {
        record_one(&mut standing, &right, message, unit)?;
    }
    Ok(standing.events)
}

/// With what right the units of one commit are recorded.
struct Right<'s> {
    author: &'s AgentEntry,
    claim: Claim<'s>,
    /// The authority that is missing to replace all that they would replace, besides what was replaced of late.
    lacks_for_all: Option<u8>,
}

impl Right<'_> {
    /// The authority that is missing to replace a unit.
    fn lacks(&self, unit: u32) -> Option<u8> {
        let for_all = self.lacks_for_all.filter(|_| !self.claim.owns(unit));
        self.claim.lacks(unit).max(for_all)
    }
}

/// The units that a unit would replace, and its author may, looking at each alone: also those that stay because not all
/// who see them see the unit, for its session may be shown to more of them later.
fn replaceable(
    state: &State,
    claim: Claim<'_>,
    record: &RecordCommand,
) -> Result<BTreeSet<u32>, Error> {
    let mut replaced = BTreeSet::new();
    for ordinal in replaces(state, record)? {
        let status = state.units.flags(ordinal).map(|unit| unit.status);
        if !status.is_some_and(is_final) && claim.lacks(ordinal).is_none() {
            replaced.insert(ordinal);
        }
    }
    Ok(replaced)
}

/// The units that a unit says it replaces, each once. A draft replaces nothing: it takes the authority of an
/// observer, and an observer changes nothing that others see.
fn replaces(state: &State, record: &RecordCommand) -> Result<BTreeSet<u32>, Error> {
    let mut replaced = BTreeSet::new();
    if record.mode == Mode::Draft {
        return Ok(replaced);
    }
    for (index, link) in targets(record, RelationType::Supersedes) {
        replaced.insert(find(state, record, index, link)?);
    }
    Ok(replaced)
}

/// What was replaced or withdrawn cannot be replaced.
fn is_final(status: UnitStatus) -> bool {
    status == UnitStatus::Superseded || status == UnitStatus::Retracted
}

fn record_one(
    standing: &mut Standing<'_>,
    right: &Right<'_>,
    message: &Message,
    record: &RecordCommand,
) -> Result<(), Error> {
    let (state, author) = (standing.state, right.author);
    let here = audience(state, message, record);
    let (mut replaced, spared): (BTreeSet<u32>, BTreeSet<u32>) =
        replaces(state, record)?.into_iter().partition(|unit| right.lacks(*unit).is_none());
    // Nor does a unit replace another that not all who see the other see, or that is of a session that takes no writes.
    replaced.retain(|unit| is_visible_with_new(state, *unit, here) && takes_changes(state, *unit));
    let recorded = Event::UnitRecorded {
        unit: record.drawn.unit,
        mode: record.mode,
        memory_type: record.memory_type,
        role: author.role.clone(),
        task: record.task.clone(),
        score: record.score,
        relations: record.links.clone(),
        session: None,
        shown: traces_before(state, author, message),
        deferred: record.is_deferred,
        authority: Some(right.claim.authority),
        key: message.key.clone(),
        spared: spared.iter().filter_map(|unit| spared_unit(state, right, *unit)).collect(),
    };
    standing.push(recorded, Some(record.drawn.body.clone()));
    let superseded = supersede(standing, &replaced);
    let mut said = contest(standing, record, here, &superseded)?;
    spare(standing, record, &spared, &mut said)?;
    let mut contested = observed(standing, record, here, &superseded, &said);
    let tells = |other: &u32| {
        Audience::of(state, *other).is_some_and(|there| here.is_open_to_readers(state, there))
    };
    contested.extend(said.iter().copied().filter(tells));
    // A committed unit whose vector cannot be had now waits for it, unless it is contested: that matters more.
    let to = match record.mode {
        Mode::Draft => None,
        Mode::Committed if !contested.is_empty() => Some(UnitStatus::Contested),
        Mode::Committed => record.awaits_vector.then_some(UnitStatus::PendingEnrichment),
    };
    if let Some(to) = to {
        let (unit, from) = (record.drawn.unit, UnitStatus::Active);
        standing.push(Event::UnitStatusChanged { unit, from, to }, None);
    }
    Ok(())
}

/// What the author was shown in this session since it last recorded something, where that was traced.
fn traces_before(state: &State, author: &AgentEntry, message: &Message) -> Vec<TraceId> {
    match message.session.as_deref().map(|session| state.names.find(session)) {
        // A session that nobody named before is one in which nothing was shown.
        Some(None) => Vec::new(),
        session => state.recent_traces.before(author.name, session.flatten()).to_vec(),
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
            if !sight.sees(find(state, record, index, link)?) {
                return Err(not_found(record, index, link));
            }
        }
    }
    Ok(())
}

fn spared_unit(state: &State, right: &Right<'_>, ordinal: u32) -> Option<Spared> {
    let unit = state.units.details(ordinal)?.id;
    let needs = right.lacks(ordinal).unwrap_or_else(|| recorded_with(state, ordinal));
    Some(Spared { unit, needs })
}

/// What the unit replaces is replaced, unless it was already.
fn supersede(standing: &mut Standing<'_>, replaced: &BTreeSet<u32>) -> BTreeSet<u32> {
    let current = replaced.iter().copied().filter(|unit| !is_final(standing.status(*unit)));
    let current: BTreeSet<u32> = current.collect();
    for unit in &current {
        standing.change(*unit, UnitStatus::Superseded);
    }
    current
}

/// What the unit may not replace is in conflict with it, and stays as it is. There is one conflict of two units, also
/// where the author contradicts the same one.
fn spare(
    standing: &mut Standing<'_>,
    record: &RecordCommand,
    spared: &BTreeSet<u32>,
    said: &mut BTreeSet<u32>,
) -> Result<(), Error> {
    let state = standing.state;
    let drawn = targets(record, RelationType::Supersedes).zip(&record.drawn.spared);
    for ((index, link), (conflict, body)) in drawn {
        let ordinal = find(state, record, index, link)?;
        let open = spared.contains(&ordinal) && !is_final(standing.status(ordinal));
        if open && said.insert(ordinal) {
            push_conflict(standing, record, ordinal, (*conflict, DetectedBy::Explicit, body));
        }
    }
    Ok(())
}

/// What the unit contradicts is in conflict with it: one conflict per target, both units contested.
/// Drafts stay drafts and contest nothing, what is final stays final, and where not all who see the
/// target see the unit the target stays as it is; the conflict says enough.
fn contest(
    standing: &mut Standing<'_>,
    record: &RecordCommand,
    here: Audience<'_>,
    superseded: &BTreeSet<u32>,
) -> Result<BTreeSet<u32>, Error> {
    let state = standing.state;
    let mut contested = BTreeSet::new();
    let drawn = record.drawn.conflicts.iter().zip(&record.drawn.conflict_bodies);
    for ((index, link), (conflict, body)) in targets(record, RelationType::Contradicts).zip(drawn) {
        let ordinal = find(state, record, index, link)?;
        if !contested.insert(ordinal) {
            continue;
        }
        push_conflict(standing, record, ordinal, (*conflict, DetectedBy::Explicit, body));
        let contestable = record.mode == Mode::Committed
            && !superseded.contains(&ordinal)
            && takes_changes(state, ordinal)
            && is_visible_with_new(state, ordinal, here);
        if contestable && standing.status(ordinal) == UnitStatus::Active {
            standing.change(ordinal, UnitStatus::Contested);
        }
    }
    Ok(contested)
}

/// What was seen to disagree with the unit is in conflict with it too, if it still can be and the
/// author has not said so already. Gives those for whose sake the unit itself is contested.
fn observed(
    standing: &mut Standing<'_>,
    record: &RecordCommand,
    here: Audience<'_>,
    superseded: &BTreeSet<u32>,
    said: &BTreeSet<u32>,
) -> BTreeSet<u32> {
    let state = standing.state;
    let mut seen = BTreeSet::new();
    let mut contesting = BTreeSet::new();
    for finding in &record.observed {
        let other = finding.other;
        let settled =
            superseded.contains(&other) || said.contains(&other) || !standing.is_current(other);
        let Some(there) = Audience::of(state, other) else { continue };
        if settled || !seen.insert(other) {
            continue;
        }
        let of = (finding.conflict, finding.detected_by, &finding.body);
        push_conflict(standing, record, other, of);
        let open = there.is_open_to_readers(state, here) && takes_changes(state, other);
        if standing.status(other) == UnitStatus::Active && open {
            standing.change(other, UnitStatus::Contested);
        }
        if here.is_open_to_readers(state, there) {
            contesting.insert(other);
        }
    }
    contesting
}

fn push_conflict(
    standing: &mut Standing<'_>,
    record: &RecordCommand,
    other: u32,
    (conflict, detected_by, body): (ConflictId, DetectedBy, &Body),
) {
    let state = standing.state;
    let event = Event::ConflictDetected {
        conflict,
        conflict_type: conflict_type(state, other, record.memory_type),
        unit_a: state.units.details(other).map_or(record.drawn.unit, |unit| unit.id),
        unit_b: record.drawn.unit,
        detected_by,
    };
    standing.push(event, Some(body.clone()));
}

fn targets(record: &RecordCommand, kind: RelationType) -> impl Iterator<Item = (usize, &Link)> {
    record.links.iter().enumerate().filter(move |(_, link)| link.kind == kind)
}

fn find(state: &State, record: &RecordCommand, index: usize, link: &Link) -> Result<u32, Error> {
    let known = UnitId::parse(&link.target).and_then(|id| state.units.find(id));
    known.ok_or_else(|| not_found(record, index, link))
}

fn not_found(record: &RecordCommand, index: usize, link: &Link) -> Error {
    let (path, target) = (record.path.clone(), link.target.clone());
    Error::TargetNotFound { path, index, target, kind: link.kind }
}

/// Who will see the new unit.
fn audience<'m>(state: &State, message: &'m Message, record: &RecordCommand) -> Audience<'m> {
    let elaborated = targets(record, RelationType::Elaborates);
    let elaborated =
        elaborated.filter_map(|(_, link)| state.units.find(UnitId::parse(&link.target)?));
    Audience::of_new(state, message.session.as_deref(), record.memory_type, elaborated)
}

/// Whether whoever sees a unit sees the new one too.
fn is_visible_with_new(state: &State, ordinal: u32, here: Audience<'_>) -> bool {
    Audience::of(state, ordinal).is_some_and(|there| there.is_open_to_readers(state, here))
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

#[must_use]
pub fn respond(epoch: u64, events: &[SealedEvent<Event>]) -> Vec<RecordResponse> {
    let mut answers: Vec<RecordResponse> = Vec::new();
    for sealed in events {
        if let Event::UnitRecorded { unit, deferred, authority, spared, .. } = &sealed.event {
            answers.push(RecordResponse {
                status: RecordStatus::Accepted,
                memory_unit_id: unit.to_string(),
                epoch,
                conflicts_detected: Vec::new(),
                conflict_detection: deferred.then_some(ConflictDetection::Deferred),
                warnings: spared.iter().map(|spared| stays(*spared, *authority)).collect(),
            });
        }
        // What follows from a unit is behind it and before the next one.
        let Some(answer) = answers.last_mut() else { continue };
        if let Event::ConflictDetected { conflict, .. } = &sealed.event {
            answer.conflicts_detected.push(conflict.to_string());
        }
        if let Event::UnitStatusChanged { to: UnitStatus::PendingEnrichment, .. } = &sealed.event {
            answer.warnings.push(format!(
                "{}: the embedding model does not answer; the unit is committed and can be found, and will be enriched later",
                ErrorCode::EnrichmentFailed
            ));
        }
    }
    answers
}

fn stays(spared: Spared, authority: Option<u8>) -> String {
    let Spared { unit, needs } = spared;
    let own = authority.unwrap_or_default();
    format!(
        "{unit} stays as it is: to replace it needs authority {needs}, and this unit was recorded with {own}"
    )
}

/// Whether a RECORD says what a commit says. Where a text was erased since, it cannot be compared,
/// and the rest decides.
pub(super) fn is_same(units: &[RecordCommand], header: &Header<Event>, commit: &Commit) -> bool {
    let recorded =
        |sealed: &&SealedEvent<Event>| matches!(sealed.event, Event::UnitRecorded { .. });
    let is_of_record = header.events.first().as_ref().is_some_and(recorded);
    let stored = (0..).zip(&header.events).filter(|(_, sealed)| recorded(sealed));
    let mut stored = stored.map(|(index, sealed)| (index, &sealed.event));
    let same = units.iter().all(|unit| {
        stored
            .next()
            .is_some_and(|(index, event)| says(unit, event) && is_text(unit, index, commit))
    });
    is_of_record && same && stored.next().is_none()
}

fn says(unit: &RecordCommand, event: &Event) -> bool {
    let Event::UnitRecorded { mode, memory_type, task, score, relations, .. } = event else {
        return false;
    };
    *mode == unit.mode
        && *memory_type == unit.memory_type
        && *task == unit.task
        && score.map(f64::to_bits) == unit.score.map(f64::to_bits)
        && *relations == unit.links
}

fn is_text(unit: &RecordCommand, event: u32, commit: &Commit) -> bool {
    let stored = commit.bodies.iter().find(|stored| stored.event == event);
    stored.is_none_or(|stored| match &stored.content {
        BodyContent::Present(body) => body.json == unit.drawn.body.json,
        BodyContent::Erased => true,
    })
}
