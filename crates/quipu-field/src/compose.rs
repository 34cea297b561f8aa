//! Puts the protocol's objects together from the state and the texts in the log.

use quipu_log::EngineError;
use quipu_recall::{Query, summary};
use quipu_wire::{
    akashik::{Confidence, Conflict, Intent, MemoryUnit, Relation, Resolution, Source, UnitStatus},
    timestamp::rfc3339,
};

use crate::{
    bodies::Bodies,
    event::{ConflictBody, ResolutionBody, UnitBody},
    limits::SUMMARY_RELATIONS_MAX,
    state::{ConflictEntry, LinkTarget, State, UnitDetails},
};

/// Stands where a text was erased.
const ERASED: &str = "(erased)";

/// A unit without its free text, and where that is.
#[derive(Debug)]
pub(crate) struct UnitOutline {
    unit: MemoryUnit,
    position: u64,
    event: u32,
}

/// Takes everything about a unit that the state knows, so that the view can be let go of.
#[must_use]
pub(crate) fn outline(state: &State, ordinal: u32) -> Option<UnitOutline> {
    let flags = state.units.flags(ordinal)?;
    let details = state.units.details(ordinal)?;
    let text = |name| state.names.text(name).to_owned();
    let unit = MemoryUnit {
        id: details.id.to_string(),
        mode: details.mode,
        kind: flags.memory_type,
        content: String::new(),
        intent: Intent { purpose: String::new(), task_id: details.task.map(text), question: None },
        confidence: details
            .score
            .map(|score| Confidence { score: Some(score), ..Confidence::default() }),
        source: Source {
            agent_id: text(flags.author),
            agent_role: text(details.role),
            session_id: details.session.map(text),
            timestamp: rfc3339(details.time_ms),
        },
        relations: relations(state, details),
        // The protocol has no word for what was purged; it stands no more than what was retracted.
        status: if flags.purged { UnitStatus::Retracted } else { flags.status },
        archived: flags.archived,
        epoch: details.epoch,
    };
    Some(UnitOutline { unit, position: details.position, event: details.event })
}

fn relations(state: &State, details: &UnitDetails) -> Vec<Relation> {
    let target_id = |target| match target {
        LinkTarget::Unit(ordinal) => {
            state.units.details(ordinal).map_or_else(String::new, |unit| unit.id.to_string())
        }
        LinkTarget::Foreign(name) => state.names.text(name).to_owned(),
    };
    details
        .links
        .iter()
        .map(|link| Relation {
            kind: link.kind,
            target_id: target_id(link.target),
            description: None,
        })
        .collect()
}

impl UnitOutline {
    /// The unit as far as the state knows it.
    #[must_use]
    pub(crate) const fn unit(&self) -> &MemoryUnit {
        &self.unit
    }

    /// Fills in the text.
    pub(crate) fn complete(self, bodies: &Bodies) -> Result<MemoryUnit, EngineError> {
        let mut unit = self.unit;
        let Some(body) = bodies.load::<UnitBody>(self.position, self.event)? else {
            unit.content = ERASED.to_owned();
            unit.intent.purpose = ERASED.to_owned();
            return Ok(unit);
        };
        unit.content = body.content;
        unit.intent.purpose = body.purpose;
        unit.intent.question = body.question;
        let confidence = Confidence {
            score: unit.confidence.and_then(|confidence| confidence.score),
            reasoning: body.reasoning,
            evidence: body.evidence,
            assumptions: body.assumptions,
        };
        unit.confidence = Some(confidence).filter(|given| *given != Confidence::default());
        for (relation, description) in unit.relations.iter_mut().zip(body.descriptions) {
            relation.description = description;
        }
        Ok(unit)
    }
}

/// An extract of a unit: what it says in brief, in about so many tokens for each text, and how sure its
/// author is. What answers `asked` comes before the rest.
#[must_use]
pub(crate) fn summarized(unit: &MemoryUnit, asked: &Query, tokens: usize) -> MemoryUnit {
    let mut brief = unit.clone();
    brief.content = summary::summarize_for(&unit.content, asked, tokens);
    brief.intent.purpose = summary::summarize_for(&unit.intent.purpose, asked, tokens);
    brief.intent.question = None;
    brief.confidence = unit
        .confidence
        .as_ref()
        .map(|given| Confidence { score: given.score, ..Confidence::default() });
    brief.relations.truncate(SUMMARY_RELATIONS_MAX);
    for relation in &mut brief.relations {
        relation.description = None;
    }
    brief
}

/// A conflict without its free text, and where that is.
#[derive(Debug)]
pub struct ConflictOutline {
    conflict: Conflict,
    position: u64,
    event: u32,
    /// Where the resolution's text is.
    rationale: Option<(u64, u32)>,
}

/// Takes everything about a conflict that the state knows.
#[must_use]
pub(crate) fn outline_conflict(state: &State, entry: &ConflictEntry) -> ConflictOutline {
    let id = |at| state.units.details(at).map_or_else(String::new, |unit| unit.id.to_string());
    let conflict = Conflict {
        id: entry.id.to_string(),
        kind: entry.conflict_type,
        status: entry.status,
        unit_a: id(entry.unit_a),
        unit_b: id(entry.unit_b),
        description: String::new(),
        detected_by: entry.detected_by,
        resolution: entry.resolution.as_ref().map(|settled| Resolution {
            strategy: settled.strategy,
            winner_id: settled.winner.map(id),
            rationale: String::new(),
            resolved_by: state.names.text(settled.by).to_owned(),
            epoch_resolved: settled.epoch,
        }),
    };
    let rationale = entry.resolution.as_ref().map(|settled| (settled.position, settled.event));
    ConflictOutline { conflict, position: entry.position, event: entry.event, rationale }
}

impl ConflictOutline {
    /// Fills in the text.
    pub fn complete(self, bodies: &Bodies) -> Result<Conflict, EngineError> {
        let mut conflict = self.conflict;
        let body = bodies.load::<ConflictBody>(self.position, self.event)?;
        conflict.description = body.map_or_else(|| ERASED.to_owned(), |body| body.description);
        if let (Some(resolution), Some((position, event))) =
            (&mut conflict.resolution, self.rationale)
        {
            let body = bodies.load::<ResolutionBody>(position, event)?;
            resolution.rationale = body.map_or_else(|| ERASED.to_owned(), |body| body.rationale);
        }
        Ok(conflict)
    }
}
