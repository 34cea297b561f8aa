//! COMPACT as a tool (spec 3.9).

use quipu_wire::{
    akashik::{CompactPayload, CompactResponse, Fidelity, Operation},
    quote::quoted,
};

use super::{
    text::{joined, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Takes old units out of the way. `strategy`: archive (akashik_attune leaves them out), summarize (short units stand for \
them), purge (their text is erased for good; this cannot be undone and needs the highest authority).

Call it only when the user asks for it, or when akashik_attune keeps returning things of a finished piece of work. Say \
exactly which units in `filter`, and look first with `dry_run`: it tells how many units it would take, which, and what \
would be written for them. What takes more than 5 units is only done with that number in `confirm`.

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
    if let Some(units) = &answer.units {
        return with_warnings(describe_foreseen(answer, units), &answer.warnings);
    }
    let mut text = format!("{} units were affected.", answer.units_affected);
    if answer.synthesis_units_created > 0 {
        text.push_str(&format!(" {} summaries stand for them.", answer.synthesis_units_created));
    }
    text.push_str(&survives(answer));
    if let Some(bytes) = answer.storage_reclaimed_bytes {
        text.push_str(&format!(" {bytes} bytes of text were erased."));
    }
    with_warnings(text, &answer.warnings)
}

/// How much of the units is in their summaries.
fn survives(answer: &CompactResponse) -> String {
    let share = |fidelity: Fidelity| (fidelity.overall * 100.0).round();
    answer.fidelity.map_or_else(String::new, |fidelity| {
        format!(" {} % of what they name and answer survives.", share(fidelity))
    })
}

/// What a COMPACT that was only tried would do.
fn describe_foreseen(answer: &CompactResponse, units: &[String]) -> String {
    let count = answer.units_affected;
    let mut text = format!("Nothing was done. {count} units would be affected: {}.", joined(units));
    text.push_str(&survives(answer));
    if let Some(bytes) = answer.storage_reclaimed_bytes {
        text.push_str(&format!(" {bytes} bytes of text would be erased."));
    }
    for synthesis in answer.syntheses.iter().flatten() {
        let sources = joined(&synthesis.elaborates);
        text.push_str(&format!("\nFor {sources}: {}", quoted(&synthesis.content)));
    }
    text
}
