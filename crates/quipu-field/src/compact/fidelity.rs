//! Measures how much of some units survives in the summaries that stand for them: what their texts name, and what can
//! still be found. No model is asked. What it finds is an observation, which goes into the log with the COMPACT.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::{State, event::UnitBody, rules::compact::Synthesis};
use quipu_recall::{
    Lexical, Query, Seen, analyze,
    summary::facts::{Cloze, Facts, Plain, clozes, facts},
};
use quipu_wire::akashik::{Fidelity, Kept, MemoryType, UnitStatus};

use super::{
    brief::{Member, standing},
    sources::Source,
};
use crate::base::limits::{FIDELITY_DEPTH, FIDELITY_QUESTIONS_MAX};

/// The share of its words from which on a rule is said, if all of its figures are.
const RULE_WORDS: f64 = 0.8;

/// What a text keeps of what its units name.
pub(super) fn kept(members: &[Member<'_>], text: &str) -> Fidelity {
    let told = standing(members);
    let mut found = Facts::default();
    let mut fidelity = Fidelity::default();
    for (source, body) in &told {
        found.extend(facts(&body.content));
        if let Some(count) = rule_count(source, &mut fidelity) {
            count.count(says_rule(text, body));
        }
    }
    let plain = Plain::new(text);
    for (facts, count) in [
        (&found.names, &mut fidelity.entities),
        (&found.numbers, &mut fidelity.numbers),
        (&found.dates, &mut fidelity.dates),
    ] {
        facts.iter().for_each(|fact| count.count(plain.says(fact)));
    }
    fidelity
}

/// Where a unit is counted if it lays something down that holds.
const fn rule_count<'f>(source: &Source, fidelity: &'f mut Fidelity) -> Option<&'f mut Kept> {
    match source.status {
        UnitStatus::Active | UnitStatus::Contested | UnitStatus::PendingEnrichment => {}
        UnitStatus::Draft | UnitStatus::Superseded | UnitStatus::Retracted => return None,
    }
    match source.memory_type {
        MemoryType::Decision => Some(&mut fidelity.decisions),
        MemoryType::HumanDirective | MemoryType::Constraint => Some(&mut fidelity.rules),
        MemoryType::Finding
        | MemoryType::Observation
        | MemoryType::Intention
        | MemoryType::Assumption
        | MemoryType::Question
        | MemoryType::Contradiction
        | MemoryType::Correction
        | MemoryType::Synthesis => None,
    }
}

fn says_rule(text: &str, rule: &UnitBody) -> bool {
    let (text, rule) = (analyze(text), analyze(&rule.content));
    let figure = |term: &str| term.starts_with(|letter: char| letter.is_numeric());
    let mut words = Kept::default();
    for (term, _) in rule.terms() {
        if figure(term) && !text.has(term) {
            return false;
        }
        words.count(text.has(term));
    }
    words.share().is_none_or(|share| share >= RULE_WORDS)
}

/// A statement of one unit, which a synthesis tells.
struct Question {
    cloze: Cloze,
    unit: u32,
    /// Which synthesis.
    told_by: usize,
}

/// What is asked before and after: a copy, so that nobody waits for the questions.
pub(crate) struct Survey {
    words: Lexical,
    /// What the caller finds now, and what it will find.
    before: Seen,
    after: Seen,
    /// The next ordinal: those of the syntheses come from here on.
    end: u32,
    /// Where a summary of before stood for a unit, finding that one counts.
    stood: BTreeMap<u32, BTreeSet<u32>>,
}

impl Survey {
    /// Copies what is needed of a Field in which the caller sees some units.
    pub(crate) fn of(
        state: &State,
        words: &Lexical,
        sees: &dyn Fn(u32) -> bool,
        syntheses: &[Synthesis],
    ) -> Self {
        let replaced = |it: &Synthesis| it.replaces.iter().copied().collect::<BTreeSet<u32>>();
        let stood: BTreeMap<u32, BTreeSet<u32>> = syntheses
            .iter()
            .flat_map(|it| it.ordinals.iter().map(|unit| (*unit, replaced(it))))
            .collect();
        let gone: BTreeSet<u32> = syntheses
            .iter()
            .flat_map(|it| it.ordinals.iter().chain(&it.replaces))
            .copied()
            .collect();
        let is_there = |unit: u32| {
            let flags = state.units.flags(unit);
            flags.is_some_and(|it| !it.archived && !it.purged) && sees(unit)
        };
        let end = state.units.next_ordinal();
        let last = end.saturating_add(u32::try_from(syntheses.len()).unwrap_or(u32::MAX));
        Self {
            words: words.clone(),
            before: Seen::only(end, is_there),
            after: Seen::only(last, |unit| unit >= end || is_there(unit) && !gone.contains(&unit)),
            end,
            stood,
        }
    }

    /// How many statements are found by their other words among the first units now, and of these, how many will be,
    /// with the word that was left out.
    pub(crate) fn answers(mut self, syntheses: &[Synthesis], told: &[Vec<(u32, String)>]) -> Kept {
        for (synthesis, ordinal) in syntheses.iter().zip(self.end..) {
            self.words.insert(ordinal, &synthesis.searchable.analyze());
        }
        let texts: Vec<Plain> = syntheses.iter().map(|it| Plain::new(&it.content)).collect();
        let mut kept = Kept::default();
        for Question { cloze, unit, told_by } in questions(told) {
            let query = Query::new(&[(&cloze.asked, 1.0)]);
            let first = |seen: &Seen| -> BTreeSet<u32> {
                let found = self.words.search(&query, seen).best(FIDELITY_DEPTH, &|_| true);
                found.into_iter().map(|hit| hit.ordinal).collect()
            };
            let before = first(&self.before);
            let stood = self.stood.get(&unit).is_some_and(|it| !it.is_disjoint(&before));
            if !stood && !before.contains(&unit) {
                continue;
            }
            let own = u32::try_from(told_by).ok().and_then(|at| self.end.checked_add(at));
            let is_found = own.is_some_and(|own| first(&self.after).contains(&own));
            kept.count(is_found && texts.get(told_by).is_some_and(|it| it.says(&cloze.answer)));
        }
        kept
    }
}

/// Some statements of all units, evenly.
fn questions(told: &[Vec<(u32, String)>]) -> Vec<Question> {
    let units: usize = told.iter().map(Vec::len).sum();
    let step = units.div_ceil(FIDELITY_QUESTIONS_MAX).max(1);
    let all = told
        .iter()
        .enumerate()
        .flat_map(|(told_by, units)| units.iter().map(move |(unit, text)| (told_by, *unit, text)));
    let mut asked: Vec<Question> = all
        .step_by(step)
        .flat_map(|(told_by, unit, text)| {
            clozes(text).into_iter().map(move |cloze| Question { cloze, unit, told_by })
        })
        .collect();
    let step = asked.len().div_ceil(FIDELITY_QUESTIONS_MAX).max(1);
    let mut at = 0;
    asked.retain(|_| {
        at += 1;
        (at - 1) % step == 0
    });
    asked
}
