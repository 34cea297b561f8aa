//! A unit in brief, for an answer that has no room for all of it.

use quipu_recall::{Query, summary::summarize};
use quipu_wire::akashik::{Confidence, MemoryUnit};

use crate::base::limits::SUMMARY_RELATIONS_MAX;

/// An extract of a unit: what it says in brief, in about so many tokens for each text, and how sure its
/// author is. What answers `asked` comes before the rest.
#[must_use]
pub(crate) fn summarized(unit: &MemoryUnit, asked: &Query, tokens: usize) -> MemoryUnit {
    let mut brief = unit.clone();
    brief.content = summarize::summarize_for(&unit.content, asked, tokens);
    brief.intent.purpose = summarize::summarize_for(&unit.intent.purpose, asked, tokens);
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
