//! What of a content is shown to whom. What is not for the caller leaves a descriptor that something was
//! there.

use quipu_wire::harn::{Artifact, JsonObject, MessageInput, Part, TaskInput, Visibility};
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

/// The Artifact, without what is not for the caller. A digest proves what only receipts do.
pub(crate) fn artifact(caller: &Caller, artifact: Artifact) -> Artifact {
    let visibility = artifact.visibility;
    if may_see(caller, visibility) {
        return artifact;
    }
    let sha256 = artifact.sha256.clone().filter(|_| visibility == Visibility::ReceiptOnly);
    Artifact { sha256, ..hidden(artifact, visibility.as_str()) }
}

/// An Artifact of which no more is told than that it is there.
pub(crate) fn hidden(mut artifact: Artifact, word: &str) -> Artifact {
    artifact.envelope.metadata = JsonObject::with("redacted", word);
    Artifact { uri: None, sha256: None, ..artifact }
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
