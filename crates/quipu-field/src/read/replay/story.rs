//! Summarizes a chain in a few sentences: what it is about, who did what, how it ended.

use quipu_wire::akashik::MemoryType;

use super::{
    chain::{Chain, Found},
    describe::Narrated,
    links::Target,
};
use quipu_core::{Event, UnitId};

/// Events that are in the story from each end of a chain.
const NARRATED_FIRST: usize = 6;
const NARRATED_LAST: usize = 2;
/// Events at each end of a chain that the story may name: one of them can be what it is about.
pub(super) const NARRATED_AT_EACH_END: usize = NARRATED_FIRST + 1;

/// The story. `narrated` are the events of the chain in order, or the first and last of them.
pub(crate) fn summarize_chain(target: &Target, chain: &Chain, narrated: &[Narrated]) -> String {
    let mut sentences = vec![headline(target, chain)];
    let is_subject = |narrated: &&Narrated| {
        !(matches!(target, Target::Conflict(_)) && narrated.entry.event_type == "CONFLICT_CREATED")
    };
    let narrated: Vec<&Narrated> = narrated.iter().filter(is_subject).collect();
    let split = if narrated.len() > NARRATED_FIRST + NARRATED_LAST {
        NARRATED_FIRST
    } else {
        narrated.len()
    };
    let (first, rest) = narrated.split_at_checked(split).unwrap_or((&narrated, &[]));
    let last = rest.get(rest.len().saturating_sub(NARRATED_LAST)..).unwrap_or_default();
    sentences.extend(in_sentences(first));
    if !rest.is_empty() {
        let shown = u64::try_from(first.len() + last.len()).unwrap_or(u64::MAX);
        sentences.push(format!("{} more events.", chain.total.saturating_sub(shown)));
    }
    sentences.extend(in_sentences(last));
    let is_merged = |narrated: &&Narrated| narrated.entry.event_type == "MERGE";
    if matches!(target, Target::Conflict(_)) && !narrated.iter().any(is_merged) {
        sentences.push("Not resolved yet.".to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

/// What was recorded goes into one sentence, as people say it; everything else into its own.
fn in_sentences(narrated: &[&Narrated]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut records: Vec<&str> = Vec::new();
    let close = |records: &mut Vec<&str>, sentences: &mut Vec<String>| {
        if !records.is_empty() {
            sentences.push(format!("{}.", records.join("; ")));
            records.clear();
        }
    };
    for narrated in narrated {
        if narrated.entry.event_type == "RECORD" {
            records.push(&narrated.said);
        } else {
            close(&mut records, &mut sentences);
            sentences.push(format!("{}.", narrated.said.trim_end_matches('.')));
        }
    }
    close(&mut records, &mut sentences);
    sentences
}

fn headline(target: &Target, chain: &Chain) -> String {
    match target {
        Target::Conflict(conflict) => {
            conflict_headline(chain).unwrap_or_else(|| format!("Conflict {conflict}."))
        }
        Target::Unit(unit) | Target::Decision(unit) => {
            let origin = chain.origin.as_ref();
            let recorded = origin.and_then(|found| Some((found.recorded()?.1, found)));
            recorded.map_or_else(
                || format!("Unit {unit}."),
                |(kind, found)| {
                    let kind = capitalized(&kind.as_str().replace('_', " "));
                    format!("{kind} {unit}, recorded by {} at epoch {}.", found.actor, found.epoch)
                },
            )
        }
        Target::Task(id) => format!("Task {id}: {}.", extent(chain)),
        Target::Session(id) => format!("Session {id}: {}.", extent(chain)),
    }
}

fn conflict_headline(chain: &Chain) -> Option<String> {
    let Some(Event::ConflictDetected { conflict_type: kind, unit_a: a, unit_b: b, .. }) =
        chain.origin.as_ref().map(|found| &found.event)
    else {
        return None;
    };
    let type_of = |wanted: &UnitId| {
        let recorded = chain.events.iter().filter_map(Found::recorded);
        recorded.into_iter().find(|(unit, _)| unit == wanted).map(|(_, kind)| kind)
    };
    let kind = capitalized(kind.as_str());
    Some(match (type_of(a), type_of(b)) {
        (Some(one), Some(other)) if one == other => {
            format!("{kind} conflict between two {}.", plural(one))
        }
        (Some(one), Some(other)) => {
            format!("{kind} conflict between {} and {}.", with_article(one), with_article(other))
        }
        _ => format!("{kind} conflict between {a} and {b}."),
    })
}

fn extent(chain: &Chain) -> String {
    let epochs = chain.events.first().zip(chain.events.last());
    let epochs = epochs.map_or_else(String::new, |(first, last)| {
        format!(", epochs {} to {}", first.epoch, last.epoch)
    });
    let count = |number: u64, one: &str| {
        if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
    };
    let agents = u64::try_from(chain.agents.len()).unwrap_or(u64::MAX);
    format!("{} by {}{epochs}", count(chain.total, "event"), count(agents, "agent"))
}

fn plural(kind: MemoryType) -> &'static str {
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

fn with_article(kind: MemoryType) -> String {
    let word = kind.as_str().replace('_', " ");
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
