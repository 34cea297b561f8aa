//! MERGE as a tool (spec 3.6).

use quipu_wire::{
    akashik::{MergePayload, MergeResponse, MergeStatus, Operation},
    quote::named,
};

use super::{
    text::{conflict_text, joined, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Settles a conflict between two units, so that the others know which one holds. The one that loses stays readable, marked \
as superseded.

Call it when you know enough to decide. First read both units. Strategies: last_write_wins, confidence_weighted and \
evidence_count let the memory decide; authority takes the more authoritative author's; synthesis replaces both by your \
own text (`resolution.synthesis`); vote counts `resolution.winner_id` as your ballot; human_escalation leaves it to the \
user, which is right when you are not sure.

Example: {\"conflict_id\": \"conflict-…\", \"strategy\": \"synthesis\", \"resolution\": {\"synthesis\": \"Growth was 23 % in \
2024 and 18 % in 2025.\", \"rationale\": \"Both figures are right, for different years\"}}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<MergePayload, MergeResponse>(
        Operation::Merge,
        "Settle a conflict",
        DESCRIPTION,
        Effect::Changes,
        describe,
    )
}

fn describe(answer: &MergeResponse) -> String {
    let mut text = match answer.status {
        MergeStatus::Resolved => "Settled: ",
        MergeStatus::Escalated => "Left to a human: ",
        MergeStatus::PendingVote => "Waits for more ballots: ",
    }
    .to_owned();
    text.push_str(&conflict_text(&answer.conflict));
    let effects = &answer.side_effects;
    if !effects.superseded_units.is_empty() {
        text.push_str(&format!("\nSuperseded: {}.", joined(&effects.superseded_units)));
    }
    if let Some(unit) = &effects.new_unit_id {
        text.push_str(&format!("\nThe synthesis is {}.", named(unit)));
    }
    if let Some(vote) = &answer.vote {
        text.push_str(&format!(
            "\nBallots: {} for unit_a, {} for unit_b; {} are needed.",
            vote.unit_a, vote.unit_b, vote.quorum
        ));
    }
    with_warnings(text, &answer.warnings)
}
