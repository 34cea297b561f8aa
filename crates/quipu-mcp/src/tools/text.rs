//! Units and conflicts as text for a model or a person.

use quipu_wire::akashik::{Conflict, MemoryUnit};

/// A unit with its question, task, evidence, assumptions and relations.
pub(crate) fn unit_text(unit: &MemoryUnit) -> String {
    let mut text = unit_summary(unit);
    if let Some(question) = &unit.intent.question {
        text.push_str(&format!("\nQuestion: {question}"));
    }
    if let Some(task) = &unit.intent.task_id {
        text.push_str(&format!("\nTask: {task}"));
    }
    if let Some(confidence) = &unit.confidence {
        for (title, entries) in
            [("Evidence", &confidence.evidence), ("Assumptions", &confidence.assumptions)]
        {
            for entry in entries {
                text.push_str(&format!("\n{title}: {entry}"));
            }
        }
    }
    for relation in &unit.relations {
        let what = relation.description.as_deref().map_or_else(String::new, |d| format!(" ({d})"));
        text.push_str(&format!("\n{} {}{what}", relation.kind.as_str(), relation.target_id));
    }
    text
}

/// A unit's content, source, purpose and confidence.
pub(super) fn unit_summary(unit: &MemoryUnit) -> String {
    let source = &unit.source;
    let mut text = format!(
        "{} [{}, {}] by {} ({}), {}, epoch {}\n{}\nWhy: {}",
        unit.id,
        unit.kind.as_str(),
        unit.status.as_str(),
        source.agent_id,
        source.agent_role,
        source.timestamp,
        unit.epoch,
        unit.content,
        unit.intent.purpose
    );
    if let Some(confidence) = &unit.confidence {
        let score = confidence.score.map_or_else(String::new, |score| format!("{score:.2}"));
        let reasoning = confidence.reasoning.as_deref().unwrap_or("no reason given");
        text.push_str(&format!("\nConfidence {score}: {reasoning}"));
    }
    text
}

/// A conflict, with its resolution if it has one.
pub(crate) fn conflict_text(conflict: &Conflict) -> String {
    let mut text = format!(
        "{} [{}, {}] {} against {}: {}",
        conflict.id,
        conflict.kind.as_str(),
        conflict.status.as_str(),
        conflict.unit_a,
        conflict.unit_b,
        conflict.description
    );
    if let Some(resolution) = &conflict.resolution {
        let winner =
            resolution.winner_id.as_deref().map_or_else(String::new, |w| format!(", {w} prevails"));
        text.push_str(&format!(
            "\nBy {} ({}){winner}: {}",
            resolution.resolved_by,
            resolution.strategy.as_str(),
            resolution.rationale
        ));
    }
    text
}

/// The names separated by commas, or `nobody`.
pub(super) fn joined(names: &[String]) -> String {
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

/// Appends each warning to a text, on a line of its own.
pub(super) fn with_warnings(mut text: String, warnings: &[String]) -> String {
    for warning in warnings {
        text.push_str(&format!("\nNote: {warning}"));
    }
    text
}
