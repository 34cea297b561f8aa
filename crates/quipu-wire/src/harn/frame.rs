//! Frames of the WebSocket stream. The protocol leaves them open; these are ours.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Event, HarnError, IdempotencyKey, JsonObject, MessageInput, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    Event {
        event: Box<Event>,
        /// What to resume from.
        cursor: String,
        /// Whether it is told again.
        replayed: bool,
    },
    /// The Task waits for the user.
    InputRequired {
        task_id: String,
        request: JsonObject,
    },
    /// The Task waits for an authorization.
    AuthRequired {
        task_id: String,
        request: JsonObject,
    },
    /// A frame of the client was refused, or the stream ends.
    Error {
        /// What was refused, or why the stream ends.
        error: HarnError,
    },
    Ping,
}

words! {
    /// The word in `type` of what the client sends.
    ClientFrameType {
        /// A message.
        Message = "message",
        /// Cancel the Task.
        Cancel = "cancel",
        /// Go on from a cursor.
        Resume = "resume",
        /// Somebody is there.
        Ping = "ping",
    }
}

/// What a client sends, with the key that makes repeating it harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFrame {
    pub command: ClientCommand,
    pub idempotency_key: Option<IdempotencyKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientCommand {
    Message(MessageInput),
    Cancel {
        reason: Option<String>,
    },
    /// Go on behind this event.
    Resume {
        /// The last event that was seen.
        cursor: String,
    },
    Ping,
}

impl ClientFrame {
    /// Reads a frame.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let kind = object.require_word("type", ClientFrameType::WORDS, ClientFrameType::parse)?;
        let idempotency_key = read_idempotency_key(&mut object)?;
        let command = match kind {
            ClientFrameType::Message => {
                let message = object.take_object("message")?;
                let message = message.ok_or_else(|| object.refuse("message", "is required"))?;
                ClientCommand::Message(MessageInput::read(message)?)
            }
            ClientFrameType::Cancel => {
                ClientCommand::Cancel { reason: object.take_nonblank("reason")? }
            }
            ClientFrameType::Resume => {
                ClientCommand::Resume { cursor: object.require_id("cursor")? }
            }
            ClientFrameType::Ping => ClientCommand::Ping,
        };
        Ok(Self { command, idempotency_key })
    }
}

fn read_idempotency_key(object: &mut ObjectReader) -> Result<Option<IdempotencyKey>, ReadError> {
    let Some(text) = object.take_nonblank("idempotency_key")? else { return Ok(None) };
    let key = IdempotencyKey::parse(text.as_bytes());
    key.map(Some).map_err(|error| object.refuse("idempotency_key", error.message))
}
