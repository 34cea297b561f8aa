//! RECORD as a tool (spec 3.3).

use quipu_wire::{
    akashik::{Operation, RecordPayload, RecordResponse},
    quote::named,
};

use super::{
    text::{joined, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Writes one piece of knowledge into a memory that you share with other agents and with your own later conversations. \
It is kept for good, and everybody finds it with akashik_attune.

Call it as soon as you learn, decide or plan something that somebody may need later: a fact that you found out, a choice \
and its reason, a constraint, an open question, what the user asked for. One idea in each call, in sentences that can be \
understood without this conversation. Do not record what anybody can look up in the code.

- `type`: finding (a fact), decision, observation, intention (a plan), assumption, constraint, question, contradiction, \
synthesis, correction, human_directive (the user's own word).
- `intent.purpose`: why you record it. Always required.
- `confidence`: how sure you are, 0.0 to 1.0, and why. Required, unless `mode` is draft.
- `relations`: links to units that you know by id. `supersedes` replaces an older unit, `contradicts` reports a conflict, \
`answers` closes a question.

If the answer names conflicts, somebody recorded the opposite: look at both with akashik_detect before you go on.

Example: {\"type\": \"decision\", \"content\": \"The importer retries three times and then moves the file to failed/.\", \
\"intent\": {\"purpose\": \"Keep the nightly import from blocking\"}, \
\"confidence\": {\"score\": 0.9, \"reasoning\": \"Agreed with the user\"}}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<RecordPayload, RecordResponse>(
        Operation::Record,
        "Record what you learned",
        DESCRIPTION,
        // With `supersedes`, it hides what it replaces.
        Effect::Changes,
        describe,
    )
}

fn describe(answer: &RecordResponse) -> String {
    let mut text =
        format!("Recorded as {} at epoch {}.", named(&answer.memory_unit_id), answer.epoch);
    if !answer.conflicts_detected.is_empty() {
        let conflicts = joined(&answer.conflicts_detected);
        text.push_str(&format!(
            " It disagrees with what is known: {conflicts}. See akashik_detect, settle with akashik_merge."
        ));
    }
    if answer.conflict_detection.is_some() {
        text.push_str(" Conflicts are still being looked for.");
    }
    with_warnings(text, &answer.warnings)
}
