//! DETECT as a tool (spec 3.5).

use quipu_wire::akashik::{DetectPayload, DetectResponse, Operation};

use super::{
    text::{conflict_text, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Shows where the shared memory disagrees with itself, and looks for contradictions that nobody has noticed.

Call it when akashik_record or akashik_attune mentions conflicts, before you rely on something that matters, or to \
tidy up. `mode`: list (what is known), check (compare one unit, named by `target_id`, with the others), scan (compare all).

Example: {\"mode\": \"list\", \"filter\": {\"status\": [\"detected\", \"escalated\"]}}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<DetectPayload, DetectResponse>(
        Operation::Detect,
        "Find contradictions",
        DESCRIPTION,
        Effect::AddsOnce,
        describe,
    )
}

fn describe(answer: &DetectResponse) -> String {
    let mut text = match answer.conflicts.len() {
        0 => "No conflicts.".to_owned(),
        1 => "1 conflict:".to_owned(),
        many => format!("{many} conflicts:"),
    };
    for found in &answer.conflicts {
        text.push_str(&format!("\n- {}", conflict_text(found)));
    }
    let seen = &answer.scan_coverage;
    if seen.units_scanned > 0 {
        text.push_str(&format!(
            "\n{} units were compared, {} conflicts are new.",
            seen.units_scanned, seen.new_conflicts_found
        ));
    }
    if let Some(cursor) = &answer.next_cursor {
        text.push_str(&format!("\nThere are more to compare: scan again with cursor {cursor}."));
    }
    with_warnings(text, &answer.warnings)
}
