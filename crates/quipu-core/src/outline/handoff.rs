//! A handoff as the protocol shows it: first what the state knows, then its free text.

use quipu_wire::akashik::{Handoff, HandoffContext, MemoryType};

use super::{ERASED, Texts};
use crate::{
    event::{
        UnitBody,
        coordination::{HandoffBody, ReasonBody},
    },
    ids::UnitId,
    state::{HandoffEntry, State},
};

/// A handoff without its free text, and where that is.
#[derive(Debug)]
pub struct HandoffOutline {
    handoff: Handoff,
    at: (u64, u32),
    answer: Option<(u64, u32)>,
    questions: Vec<(u64, u32)>,
    /// The decisions among the units of the task.
    decisions: Vec<(u64, u32)>,
}

impl HandoffOutline {
    /// Takes everything about a handoff that the state knows.
    #[must_use]
    pub fn of(state: &State, id: &str, entry: &HandoffEntry) -> Self {
        let context = HandoffContext {
            memory_unit_ids: entry.units.iter().map(ToString::to_string).collect(),
            conflict_ids: entry.conflicts.iter().map(ToString::to_string).collect(),
            ..HandoffContext::default()
        };
        let handoff = Handoff {
            id: id.to_owned(),
            session_id: entry.session.clone(),
            task_id: entry.task.clone(),
            from_agent: entry.from.clone(),
            to_agent: entry.to.clone(),
            status: entry.status,
            reason: String::new(),
            answer: None,
            context,
            epoch_created: entry.epoch_created,
            epoch_updated: entry.epoch_updated,
        };
        let place = |id: &UnitId| {
            let unit = state.units.find(*id).and_then(|at| state.units.details(at))?;
            Some((unit.position, unit.event))
        };
        let questions = entry.questions.iter().filter_map(place).collect();
        let task = state.names.find(&entry.task);
        let is_decision = |id: &&UnitId| {
            let at = state.units.find(**id);
            let kind = at.and_then(|at| state.units.flags(at)).map(|unit| unit.memory_type);
            let of_task = at.and_then(|at| state.units.details(at)).and_then(|unit| unit.task);
            kind == Some(MemoryType::Decision) && of_task.is_some() && of_task == task
        };
        let decisions = entry.units.iter().filter(is_decision).filter_map(place).collect();
        let (at, answer) = ((entry.position, entry.event), entry.answer);
        Self { handoff, at, answer, questions, decisions }
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<Handoff, T::Error> {
        let mut handoff = self.handoff;
        handoff.reason = ERASED.to_owned();
        if let Some(body) = texts.load::<HandoffBody>(self.at.0, self.at.1)? {
            handoff.reason = body.reason;
            let context = &mut handoff.context;
            context.summary = body.summary;
            context.open_questions = body.open_questions;
            context.decisions = body.decisions;
            context.assumptions = body.assumptions;
            context.next_steps = body.next_steps;
        }
        for (position, event) in self.questions {
            if let Some(question) = texts.load::<UnitBody>(position, event)? {
                handoff.context.open_questions.push(question.content);
            }
        }
        for (position, event) in self.decisions {
            if let Some(decision) = texts.load::<UnitBody>(position, event)? {
                handoff.context.decisions.push(decision.content);
            }
        }
        if let Some((position, event)) = self.answer {
            let body = texts.load::<ReasonBody>(position, event)?;
            handoff.answer = body.map(|body| body.reason);
        }
        Ok(handoff)
    }
}
