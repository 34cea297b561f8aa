//! How units, reasons and quotes are put into words. What somebody wrote is quoted, in one line, and cannot end its own quotation.

use quipu_recall::summary::summarize;
use quipu_wire::akashik::{MemoryType, RelationType};

use super::super::describe::one_line;

/// Characters of what is told at length, of a text in passing, and of one that only reminds of what was told.
pub(super) const LONG_CHARS: usize = 400;
pub(super) const BRIEF_CHARS: usize = 200;
pub(in crate::read::replay) const NAME_CHARS: usize = 80;
/// Entries of a list that are told.
const LISTED_MAX: usize = 4;

/// The beginning of a text in one line, without a full stop at its end.
pub(super) fn brief(text: &str, chars: usize) -> String {
    let line = one_line(&summarize::lead(text, chars));
    line.trim_end_matches('.').to_owned()
}

/// The same between quotation marks.
pub(in crate::read::replay) fn quoted(text: &str, chars: usize) -> String {
    format!("\"{}\"", brief(text, chars).replace('"', "'"))
}

/// A few texts after each other.
pub(super) fn listed(texts: &[String]) -> String {
    let mut parts: Vec<String> =
        texts.iter().take(LISTED_MAX).map(|text| brief(text, BRIEF_CHARS)).collect();
    let more = texts.len().saturating_sub(LISTED_MAX);
    parts.extend((more > 0).then(|| format!("{more} more")));
    parts.join("; ")
}

/// A number of things.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A text without the blanks of a word of the protocol.
pub(super) fn plain(word: &str) -> String {
    word.replace('_', " ")
}

/// With a capital letter at its beginning.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// How a relation reads between what it comes from and what it points at.
pub(super) const fn verb(kind: RelationType) -> &'static str {
    match kind {
        RelationType::DependsOn => "depends on",
        RelationType::CausedBy => "was caused by",
        RelationType::Supersedes => "replaces",
        RelationType::Answers => "answers",
        RelationType::Contradicts => "contradicts",
        RelationType::Supports => "supports",
        RelationType::Elaborates => "adds detail to",
        RelationType::Blocks => "stands in the way of",
        RelationType::Informs => "gives context to",
    }
}

/// How much a relation says about why: the lowest number says most.
pub(super) const fn lightness(kind: RelationType) -> u8 {
    match kind {
        RelationType::DependsOn => 0,
        RelationType::CausedBy => 1,
        RelationType::Supersedes => 2,
        RelationType::Answers => 3,
        RelationType::Contradicts => 4,
        RelationType::Supports | RelationType::Elaborates => 5,
        RelationType::Blocks | RelationType::Informs => 6,
    }
}

pub(super) const fn plural(kind: MemoryType) -> &'static str {
    match kind {
        MemoryType::Finding => "findings",
        MemoryType::Decision => "decisions",
        MemoryType::Observation => "observations",
        MemoryType::Intention => "intentions",
        MemoryType::Assumption => "assumptions",
        MemoryType::Constraint => "constraints",
        MemoryType::Question => "questions",
        MemoryType::Contradiction => "contradictions",
        MemoryType::Synthesis => "syntheses",
        MemoryType::Correction => "corrections",
        MemoryType::HumanDirective => "human directives",
    }
}

pub(super) fn with_article(kind: MemoryType) -> String {
    let word = plain(kind.as_str());
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}
