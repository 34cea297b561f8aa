//! COMPACT as a tool (spec 3.9).

use quipu_wire::akashik::{CompactPayload, CompactResponse, Operation};

use super::{
    text::with_warnings,
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Takes old units out of the way. `strategy`: archive (akashik_attune leaves them out), summarize (short units stand for \
them), purge (their text is erased for good; this cannot be undone and needs the highest authority).

Call it only when the user asks for it, or when akashik_attune keeps returning things of a finished piece of work. Say \
exactly which units in `filter`.

Example: {\"strategy\": \"archive\", \"filter\": {\"status\": [\"superseded\"], \"max_age_epochs\": 10000}, \
\"reason\": \"finished work\"}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<CompactPayload, CompactResponse>(
        Operation::Compact,
        "Archive, summarize or purge",
        DESCRIPTION,
        Effect::Changes,
        describe,
    )
}

fn describe(answer: &CompactResponse) -> String {
    let mut text = format!("{} units were affected.", answer.units_affected);
    if answer.synthesis_units_created > 0 {
        text.push_str(&format!(" {} summaries stand for them.", answer.synthesis_units_created));
    }
    if let Some(bytes) = answer.storage_reclaimed_bytes {
        text.push_str(&format!(" {bytes} bytes of text were erased."));
    }
    with_warnings(text, &answer.warnings)
}
