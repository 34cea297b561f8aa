//! SESSION as a tool. The name is ours: the protocol lists no tool for it.

use quipu_wire::{
    akashik::{Operation, Session, SessionPayload, SessionResponse},
    quote::{named, quoted},
};
use serde_json::{Map, Value};

use super::{
    text::{joined, with_warnings},
    tool::{Effect, OperationTool},
};

const DESCRIPTION: &str = "\
Opens and closes sessions: rooms inside the shared memory with members and rules of their own. What is recorded \
in a session is seen by its members.

You rarely need this. Call it when the user wants a piece of work kept apart. Afterwards pass its id as `session_id` \
with every call. Actions: create, join, leave, pause, resume, end, set_policy, get, list.

Example: {\"action\": \"create\", \"session\": {\"goal\": \"Prepare the launch\"}}";

const AGENT: &str = "Which agent you are, if you registered one with akashik_register.";
const MEMBER: &str = "Whom to let in or to remove, for join and leave; yourself if absent.";

pub(super) fn tool() -> OperationTool {
    OperationTool::new::<SessionPayload, SessionResponse>(
        Operation::Session,
        "Keep work apart in sessions",
        DESCRIPTION,
        Effect::Changes,
        describe,
    )
    .with_argument("agent_id", AGENT)
    .with_argument("member_id", MEMBER)
    .preparing(name_member)
}

/// The payload has the member in `agent_id`, which in a tool's arguments is the agent that speaks.
fn name_member(arguments: &mut Map<String, Value>, _: bool) {
    if let Some(member) = arguments.remove("member_id") {
        arguments.insert("agent_id".to_owned(), member);
    }
}

fn describe(answer: &SessionResponse) -> String {
    let text = match (&answer.session, &answer.sessions) {
        (Some(session), _) => line(session),
        (None, Some(sessions)) if sessions.is_empty() => "No sessions.".to_owned(),
        (None, Some(sessions)) => sessions.iter().map(line).collect::<Vec<_>>().join("\n"),
        (None, None) => answer.status.clone(),
    };
    with_warnings(text, &answer.warnings)
}

fn line(session: &Session) -> String {
    format!(
        "{} [{}] {}; members: {}",
        named(&session.id),
        session.status.as_str(),
        quoted(&session.goal),
        joined(&session.members)
    )
}
