//! ATTUNE as a tool (spec 3.4).

use quipu_wire::{
    akashik::{AttunePayload, AttuneResponse, Operation, UnitView},
    quote::{named, quoted},
};
use serde_json::{Map, Value};

use super::{
    text::{WHAT_QUOTES_MEAN, conflict_text, unit_summary, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Asks the shared memory what you should know now. You need no search terms: say who you are and what you are about \
to do, and you get the most relevant things that other agents and earlier conversations recorded, best first, each with \
the reason why it is relevant, and the conflicts that nobody has settled.

Call it before you start on something, before you decide something, and when you take over somebody's work.

- `scope.role`: what you do, such as \"backend_engineer\". Required.
- `scope.max_units`: how many units you want; 10 is a good number. Required.
- `scope.max_tokens`: how much you can read.
- `context_hint`: what you are about to do, in a sentence. It makes the answer much better.
- `since_epoch`: only what is new since the `epoch` of an earlier answer.

Example: {\"scope\": {\"role\": \"backend_engineer\", \"max_units\": 10, \"max_tokens\": 4000}, \
\"context_hint\": \"change how failed imports are retried\"}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<AttunePayload, AttuneResponse>(
        Operation::Attune,
        "Attune before you act",
        DESCRIPTION,
        Effect::Reads,
        describe,
    )
    .preparing(with_own)
}

/// Includes the host's own units: its conversations do not remember each other, so what one recorded is new to the
/// next.
fn with_own(arguments: &mut Map<String, Value>, for_host: bool) {
    if let Some(Value::Object(scope)) = arguments.get_mut("scope").filter(|_| for_host) {
        scope.entry("include_own").or_insert(Value::Bool(true));
    }
}

fn describe(answer: &AttuneResponse) -> String {
    let budget = &answer.context_budget;
    let mut text = match answer.record.len() {
        0 => "Nothing relevant is known yet.".to_owned(),
        _ => format!(
            "{} of {} units, the most relevant first. {WHAT_QUOTES_MEAN}",
            budget.units_returned, budget.units_available
        ),
    };
    for (place, scoped) in answer.record.iter().enumerate() {
        let about = match &scoped.memory_unit {
            UnitView::Unit(unit) => unit_summary(unit),
            UnitView::Id { id } => named(id),
        };
        text.push_str(&format!(
            "\n\n{}. {about}\nRelevance {:.2}: {}",
            place + 1,
            scoped.relevance_score,
            quoted(&scoped.relevance_reason)
        ));
    }
    if !answer.conflicts.is_empty() {
        text.push_str("\n\nUnsettled conflicts:");
        for open in &answer.conflicts {
            text.push_str(&format!("\n- {}", conflict_text(open)));
        }
    }
    text.push_str(&format!(
        "\n\nEpoch {}: pass it as since_epoch to see only what is new.",
        answer.epoch
    ));
    with_warnings(text, &answer.warnings)
}
