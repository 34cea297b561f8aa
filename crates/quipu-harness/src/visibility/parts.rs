//! What of a content is shown to whom. What is not for the caller leaves a descriptor that something was
//! there.

use quipu_wire::harn::{MessageInput, Part, TaskInput, Visibility};
use serde_json::json;

use crate::Caller;

/// The authority that may see what is `internal`.
const AUTHORITY_INTERNAL: u8 = 8;

/// Whether the caller may see a content. Nobody sees what only receipts prove.
pub(crate) const fn may_see(caller: &Caller, visibility: Visibility) -> bool {
    match visibility {
        Visibility::Public => true,
        Visibility::Internal => caller.authority >= AUTHORITY_INTERNAL,
        Visibility::ReceiptOnly => false,
    }
}

/// The parts, without what is not for the caller.
pub(crate) fn parts(caller: &Caller, parts: Vec<Part>) -> Vec<Part> {
    let show = |part: Part| {
        let visibility = part.visibility();
        if may_see(caller, visibility) {
            return part;
        }
        Part::Json { value: json!({"redacted": visibility.as_str()}), visibility }
    };
    parts.into_iter().map(show).collect()
}

/// What a Task is to do, without what is not for the caller.
pub(crate) fn input(caller: &Caller, input: TaskInput) -> TaskInput {
    match input {
        TaskInput::Message(message) => {
            let parts = parts(caller, message.parts);
            TaskInput::Message(MessageInput { parts, ..message })
        }
        TaskInput::Object(object) => TaskInput::Object(object),
    }
}

/// The texts of an input that are for more than receipts, joined.
pub(crate) fn text_of(input: &TaskInput, seen: impl Fn(Visibility) -> bool) -> String {
    match input {
        TaskInput::Message(message) => {
            let texts = message.parts.iter().filter(|part| seen(part.visibility()));
            let texts = texts.filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.clone()),
                Part::Json { value, .. } => Some(value.to_string()),
                Part::ToolResult { output, .. } => Some(output.to_string()),
                Part::ToolCall { .. }
                | Part::ArtifactRef { .. }
                | Part::FileRef { .. }
                | Part::ImageRef { .. } => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        TaskInput::Object(object) => serde_json::to_string(object).unwrap_or_default(),
    }
}
