//! REPLAY as a tool (spec 3.8).

use quipu_wire::{
    akashik::{Operation, ReplayPayload, ReplayResponse},
    quote::{named, quoted},
};

use super::{
    text::{joined, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Tells how something came about: which findings, conflicts and decisions led to it, who was involved, in order.

Call it when somebody asks \"why did we decide this?\", before you overturn a decision, and to get to know a task or \
a session that you take over. `target_type`: decision, memory_unit, conflict, task or session. `depth`: summary, \
detailed or full_trace. `without`: ids of units; tells what the author would have been given without them.

Example: {\"target_type\": \"decision\", \"target_id\": \"mem-…\", \"depth\": \"detailed\"}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<ReplayPayload, ReplayResponse>(
        Operation::Replay,
        "See how it came about",
        DESCRIPTION,
        Effect::Reads,
        describe,
    )
}

/// Writes a replay as text, for the tool's answer and for the resource.
pub(crate) fn describe(answer: &ReplayResponse) -> String {
    let mut text = quoted(&answer.summary);
    for event in &answer.timeline {
        text.push_str(&format!(
            "\n- {} {} by {}: {}",
            event.epoch,
            named(&event.event_type),
            named(&event.agent_id),
            quoted(&event.description)
        ));
        if let Some(why) = &event.why {
            text.push_str(&format!(" Why: {}", quoted(why)));
        }
    }
    if let Some(without) = &answer.without {
        text.push_str(&format!("\nWithout these units: {}", quoted(&without.summary)));
        for unknown in &without.cannot_know {
            text.push_str(&format!("\n- not known: {}", quoted(unknown)));
        }
    }
    text.push_str(&format!(
        "\n{} events in all, by {}.",
        answer.total_events,
        joined(&answer.agents_involved)
    ));
    with_warnings(text, &answer.warnings)
}
