//! REGISTER as a tool (spec 3.1).

use quipu_wire::{
    akashik::{Operation, RegisterPayload, RegisterResponse, RegisterStatus},
    quote::{named, one_line, quoted},
};

use super::{
    text::with_warnings,
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Joins the shared memory as an agent with a name and a role of its own.

You rarely need this: without it you speak for the host application, which is registered by itself. Call it when \
several agents work from one host and each should have its own name, so that others see who recorded what. \
Afterwards pass the same name as `agent_id` with every call.

If the answer is AGENT_ID_TAKEN and the agent is you from an earlier conversation, go on: you are registered.

Example: {\"id\": \"fact-checker\", \"role\": \"fact_checker\", \"interests\": [\"sources\", \"market size\"]}";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<RegisterPayload, RegisterResponse>(
        Operation::Register,
        "Join the shared memory",
        DESCRIPTION,
        Effect::AddsOnce,
        describe,
    )
}

fn describe(answer: &RegisterResponse) -> String {
    let text = match (&answer.status, &answer.agent) {
        (RegisterStatus::Registered, Some(agent)) => format!(
            "Registered as {} ({}). Pass \"agent_id\": {} with your calls to speak as this agent.",
            named(&agent.id),
            named(&agent.role),
            quoted(&agent.id)
        ),
        _ => {
            let why = answer.rejection_reason.as_deref().unwrap_or("no reason was given");
            format!("Not registered: {}.", one_line(why))
        }
    };
    with_warnings(text, &answer.warnings)
}
