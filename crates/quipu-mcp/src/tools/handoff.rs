//! HANDOFF as a tool. The name is ours: the protocol lists no tool for it.

use quipu_wire::{
    akashik::{Handoff, HandoffPayload, HandoffResponse, Operation},
    quote::{named, quoted},
};

use super::{
    text::{quotations, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Gives a task to another agent together with everything it needs to go on: a summary, the units to read, open \
questions, unsettled conflicts, next steps. The memory adds what was recorded for the task.

Call it with `offer` when somebody else should go on with your task, with `list` to see what is offered to you, and with \
accept or reject to answer.

Example: {\"action\": \"offer\", \"task_id\": \"task-…\", \"to_agent\": \"writer\", \"reason\": \"The figures are checked\", \
\"context\": {\"summary\": \"Two of three sources agree\", \"next_steps\": [\"Write section 2\"]}}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<HandoffPayload, HandoffResponse>(
        Operation::Handoff,
        "Hand work over",
        DESCRIPTION,
        // Accepting takes the task from who has it; rejecting and canceling end the offer.
        Effect::Changes,
        describe,
    )
}

fn describe(answer: &HandoffResponse) -> String {
    let text = match (&answer.handoff, &answer.handoffs) {
        (Some(handoff), _) => whole(handoff),
        (None, Some(handoffs)) if handoffs.is_empty() => "No handoffs.".to_owned(),
        (None, Some(handoffs)) => handoffs.iter().map(whole).collect::<Vec<_>>().join("\n\n"),
        (None, None) => answer.status.clone(),
    };
    with_warnings(text, &answer.warnings)
}

fn whole(handoff: &Handoff) -> String {
    let mut text = format!(
        "{} [{}]: {} from {} to {}, because {}",
        named(&handoff.id),
        handoff.status.as_str(),
        named(&handoff.task_id),
        named(&handoff.from_agent),
        named(&handoff.to_agent),
        quoted(&handoff.reason)
    );
    let context = &handoff.context;
    if let Some(summary) = &context.summary {
        text.push_str(&format!("\nWhere things stand: {}", quoted(summary)));
    }
    let lists = [
        ("Units to read", &context.memory_unit_ids),
        ("Open questions", &context.open_questions),
        ("Conflicts", &context.conflict_ids),
        ("Decisions", &context.decisions),
        ("Assumptions", &context.assumptions),
        ("Next steps", &context.next_steps),
    ];
    for (title, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        text.push_str(&format!("\n{title}: {}", quotations(entries)));
    }
    text
}
