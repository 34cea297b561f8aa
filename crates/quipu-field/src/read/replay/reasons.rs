//! What whoever did something gave as a reason for it, from the texts beside its event: all of it, and the one sentence
//! that matters. What was purged is said to be; what a handoff says goes to whom HANDOFF shows it.

use quipu_log::EngineError;
use quipu_recall::summary::summarize;
use quipu_wire::akashik::{Relation, ReplayDepth, ReplayReasons};
use serde::Deserialize;

use super::{
    chain::{Found, Trace},
    places::Places,
    texts::Texts,
};
use quipu_core::{Event, UnitId, event::Link, outline::ERASED};

/// Characters of the sentence that matters.
const WHY_CHARS: usize = 240;

/// The texts beside an event of any kind, but for what it says itself. A body has some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Given {
    purpose: Option<String>,
    question: Option<String>,
    reasoning: Option<String>,
    evidence: Vec<String>,
    assumptions: Vec<String>,
    descriptions: Vec<Option<String>>,
    rationale: Option<String>,
    reason: Option<String>,
    description: Option<String>,
    hint: Option<String>,
    goal: Option<String>,
    summary: Option<String>,
    open_questions: Vec<String>,
    decisions: Vec<String>,
    next_steps: Vec<String>,
}

/// Why an event happened, as its author says: the sentence, and at depth `full_trace` everything.
pub(super) fn reasons(
    found: &Found,
    trace: &Trace<'_>,
    places: &Places,
    texts: &mut Texts<'_>,
) -> Result<(Option<String>, Option<ReplayReasons>), EngineError> {
    if is_confidential(found, trace) {
        return Ok((None, None));
    }
    let given = texts.read::<Given>(found)?;
    let erased = given.is_none() && found.has_body;
    let mut reasons = all(found, given.unwrap_or_default(), places);
    reasons.erased = erased;
    let why = if erased && reasons.reason.is_none() {
        Some(ERASED.to_owned())
    } else {
        sentence(&reasons).map(|why| summarize::lead(why, WHY_CHARS).into_owned())
    };
    let is_wanted = trace.depth == ReplayDepth::FullTrace && reasons != ReplayReasons::default();
    Ok((why, is_wanted.then_some(reasons)))
}

/// Whether what a handoff says is not for the caller.
fn is_confidential(found: &Found, trace: &Trace<'_>) -> bool {
    matches!(&found.event, Event::HandoffChanged { handoff, .. } if !trace.handoffs.contains(handoff))
}

/// The sentence that matters most.
fn sentence(reasons: &ReplayReasons) -> Option<&str> {
    let own = [&reasons.rationale, &reasons.reason, &reasons.reasoning, &reasons.description];
    let others = [&reasons.purpose, &reasons.question];
    own.into_iter().chain(others).flatten().map(|text| text.trim()).find(|text| !text.is_empty())
}

fn all(found: &Found, given: Given, places: &Places) -> ReplayReasons {
    let mut reasons = ReplayReasons {
        // What a session is for is its purpose.
        purpose: given.purpose.or(given.goal),
        question: given.question,
        confidence: None,
        reasoning: given.reasoning,
        evidence: given.evidence,
        assumptions: given.assumptions,
        relations: Vec::new(),
        rationale: given.rationale,
        reason: given.reason,
        description: given.description,
        hint: given.hint,
        summary: given.summary,
        open_questions: given.open_questions,
        decisions: given.decisions,
        next_steps: given.next_steps,
        erased: false,
    };
    match &found.event {
        Event::UnitRecorded { score, relations, .. } => {
            reasons.confidence = *score;
            reasons.relations = relations_in_story(relations, given.descriptions, places);
        }
        Event::UnitsArchived { reason, .. } => reasons.reason.clone_from(reason),
        Event::UnitsPurged { reason, .. } => reasons.reason = Some(reason.clone()),
        Event::AgentRegistered { .. }
        | Event::AgentDeregistered { .. }
        | Event::AgentStatusChanged { .. }
        | Event::SessionChanged { .. }
        | Event::TaskChanged { .. }
        | Event::HandoffChanged { .. }
        | Event::AttuneTraced { .. }
        | Event::UnitStatusChanged { .. }
        | Event::ConflictDetected { .. }
        | Event::ConflictResolving { .. }
        | Event::ConflictBallotCast { .. }
        | Event::ConflictResolved { .. }
        | Event::ConflictEscalated { .. }
        | Event::UnitRetracted { .. }
        | Event::UnitRestored { .. }
        | Event::LeastAuthoritySet { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::DocumentChanged { .. }
        | Event::TaskNoted { .. }
        | Event::IdempotencyKept { .. }
        | Event::ClockAdvanced { .. } => {}
    }
    reasons
}

/// The relations to units of the chain. What is not in it is unknown here, or hidden from the caller.
fn relations_in_story(
    links: &[Link],
    descriptions: Vec<Option<String>>,
    places: &Places,
) -> Vec<Relation> {
    let descriptions = descriptions.into_iter().chain(std::iter::repeat(None));
    let known = |link: &Link| {
        UnitId::parse(&link.target).is_some_and(|unit| places.units.contains_key(&unit))
    };
    links
        .iter()
        .zip(descriptions)
        .filter(|(link, _)| known(link))
        .map(|(link, description)| Relation {
            kind: link.kind,
            target_id: link.target.clone(),
            description,
        })
        .collect()
}
