//! Prompts: the two habits that make a shared memory worth having, for hosts that offer prompts to
//! their users.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::{Map, Value};

const ATTUNE: &str = "attune-before-you-act";
const RECORD: &str = "record-what-you-learned";

pub(crate) fn all() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, required: bool| {
        PromptArgument::new(name).with_description(description).with_required(required)
    };
    vec![
        Prompt::new(
            ATTUNE,
            Some("See what is already known before you start on something."),
            Some(vec![
                argument("task", "What you are about to do.", true),
                argument("role", "What you do in the team, such as backend_engineer.", false),
            ]),
        )
        .with_title("Attune before you act"),
        Prompt::new(
            RECORD,
            Some("Keep what this conversation found out for the others and for later."),
            Some(vec![argument(
                "topic",
                "What to record; everything that matters if absent.",
                false,
            )]),
        )
        .with_title("Record what you learned"),
    ]
}

/// A prompt with its arguments filled in.
pub(crate) fn get(
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    let text = match name {
        ATTUNE => {
            let problem = "task: is required: what you are about to do";
            let task = argument("task").ok_or_else(|| ErrorData::invalid_params(problem, None))?;
            attune(task, argument("role").unwrap_or("agent"))
        }
        RECORD => record(argument("topic")),
        _ => {
            let problem = format!("Unknown prompt: {name}. There are {ATTUNE}, {RECORD}");
            return Err(ErrorData::invalid_params(problem, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn attune(task: &str, role: &str) -> String {
    format!(
        "You are about to do this: {task}\n\n\
         First call akashik_attune with scope.role \"{role}\", scope.max_units 10 and the task as context_hint. Read what \
         comes back. Tell me in a few sentences what is already known, which decisions and constraints hold, what is \
         disputed, and what you will therefore do differently. If something is disputed that the task depends on, look at \
         it with akashik_detect before you go on. Then begin."
    )
}

fn record(topic: Option<&str>) -> String {
    let about = topic.map_or_else(
        || "Look back over this conversation.".to_owned(),
        |topic| format!("Look back over this conversation, as far as it is about {topic}."),
    );
    format!(
        "{about} Record with akashik_record what somebody who was not here will need: facts that you found out, decisions \
         and their reasons, constraints, open questions, and what I asked for (type human_directive). One idea in each \
         call, in sentences that stand alone, with intent.purpose and an honest confidence. If one of them replaces \
         something that akashik_attune showed you, link it with supersedes. Do not record secrets, or what the code says \
         itself. Then list what you recorded, with ids, and any conflicts that came up."
    )
}
