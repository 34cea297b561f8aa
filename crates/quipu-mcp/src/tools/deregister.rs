//! DEREGISTER as a tool (spec 3.2). The name is ours: the protocol lists no tool for it.

use quipu_wire::akashik::{DeregisterPayload, DeregisterResponse, DeregisterStatus, Operation};

use super::{
    text::with_warnings,
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Takes an agent out of the shared memory. What it recorded stays, and its unfinished tasks wait for somebody else.

Call it at the end of the work of an agent that you registered with akashik_register. The host's own agent can stay.

Example: {\"agent_id\": \"fact-checker\"}";

const AGENT: &str = "The agent that leaves. Without it, the one that you speak for.";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<DeregisterPayload, DeregisterResponse>(
        Operation::Deregister,
        "Leave the shared memory",
        DESCRIPTION,
        Effect::Removes,
        describe,
    )
    .with_argument("agent_id", AGENT)
    .meaning_an_agent()
}

fn describe(answer: &DeregisterResponse) -> String {
    let left = &answer.cleanup;
    let text = match answer.status {
        DeregisterStatus::Ok => format!(
            "The agent has left. {} units of its own stay, {} tasks wait for another agent.",
            left.units_orphaned, left.tasks_reassigned
        ),
        DeregisterStatus::NotFound => "Nobody of that name was registered.".to_owned(),
    };
    with_warnings(text, &answer.warnings)
}
