//! A unit as the protocol shows it: first what the state knows, then its free text.

use quipu_wire::{
    akashik::{Confidence, Intent, MemoryUnit, Relation, Source, UnitStatus},
    json::timestamp::rfc3339,
};

use super::{ERASED, Texts};
use crate::{
    event::UnitBody,
    state::{LinkTarget, State, UnitDetails},
};

/// A unit without its free text, and where that is.
#[derive(Debug)]
pub struct UnitOutline {
    unit: MemoryUnit,
    position: u64,
    event: u32,
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
    /// Takes everything about a unit that the state knows, so that the view can be let go of.
    #[must_use]
    pub fn of(state: &State, ordinal: u32) -> Option<Self> {
        let flags = state.units.flags(ordinal)?;
        let details = state.units.details(ordinal)?;
        let text = |name| state.names.text(name).to_owned();
        let unit = MemoryUnit {
            id: details.id.to_string(),
            mode: details.mode,
            kind: flags.memory_type,
            content: String::new(),
            intent: Intent {
                purpose: String::new(),
                task_id: details.task.map(text),
                question: None,
            },
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
        Some(Self { unit, position: details.position, event: details.event })
    }

    /// The unit as far as the state knows it.
    #[must_use]
    pub const fn unit(&self) -> &MemoryUnit {
        &self.unit
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<MemoryUnit, T::Error> {
        let mut unit = self.unit;
        let Some(body) = texts.load::<UnitBody>(self.position, self.event)? else {
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
