//! Message: something that a user, an agent or a tool said, and the requests that append one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, Part, ResourceEnvelope, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// The word in `object` of a Message.
    MessageObject {
        /// Always this one.
        Message = "message",
    }
}

words! {
    /// Who speaks.
    MessageRole {
        /// A user.
        User = "user",
        /// A model.
        Assistant = "assistant",
        /// Whoever set the rules.
        System = "system",
        /// A tool.
        Tool = "tool",
        /// Another agent.
        Agent = "agent",
    }
}

words! {
    /// What a Message to a Task is for.
    TaskMessageKind {
        /// What the Task waits for.
        Input = "input",
        /// A word in between.
        Interrupt = "interrupt",
        /// Whether a tool may be called.
        ToolConfirmation = "tool_confirmation",
    }
}

/// A Message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// Always `message`.
    pub object: MessageObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Session that it is part of.
    pub session_id: Option<String>,
    /// The Task that it is about.
    pub task_id: Option<String>,
    /// Who speaks.
    pub role: MessageRole,
    /// What is said.
    pub parts: Vec<Part>,
}

/// A Message that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessageInput {
    /// Who speaks.
    pub role: MessageRole,
    /// What is said.
    pub parts: Vec<Part>,
    /// The client's own members.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub metadata: JsonObject,
}

fn is_empty(object: &JsonObject) -> bool {
    object.0.is_empty()
}

impl MessageInput {
    /// What a user said in plain text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        let parts = vec![Part::text(text)];
        Self { role: MessageRole::User, parts, metadata: JsonObject::default() }
    }

    pub(super) fn read(mut object: ObjectReader) -> Result<Self, ReadError> {
        let role = object.require_word("role", MessageRole::WORDS, MessageRole::parse)?;
        if !object.has("parts") {
            return Err(object.refuse("parts", "is required"));
        }
        let parts =
            object.take_objects("parts")?.into_iter().map(Part::read).collect::<Result<_, _>>()?;
        Ok(Self { role, parts, metadata: object.take_metadata()? })
    }
}

/// The body of `POST /v1/sessions/{session_id}/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendMessageRequest {
    /// The Message.
    pub message: MessageInput,
}

impl AppendMessageRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self { message: read_message(&mut object)? })
    }
}

/// The body of `POST /v1/tasks/{task_id}/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendTaskMessageRequest {
    /// What it is for.
    pub kind: TaskMessageKind,
    /// The Message.
    pub message: MessageInput,
}

impl AppendTaskMessageRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let kind = object.require_word("kind", TaskMessageKind::WORDS, TaskMessageKind::parse)?;
        Ok(Self { kind, message: read_message(&mut object)? })
    }
}

fn read_message(object: &mut ObjectReader) -> Result<MessageInput, ReadError> {
    let message = object.take_object("message")?;
    MessageInput::read(message.ok_or_else(|| object.refuse("message", "is required"))?)
}
