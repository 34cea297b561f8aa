//! A worker says that it cannot go on before somebody answers or allows something. Ours, beside the protocol.

use serde_json::Value;

use super::{JsonObject, PermissionClass, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// What a Task waits for.
    AwaitedAnswer {
        /// An answer.
        Input = "input",
        /// That somebody allows something.
        Auth = "auth",
    }
}

/// The body of `POST /v1/tasks/{task_id}/await`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AwaitTaskRequest {
    /// What it waits for.
    #[cfg_attr(feature = "openapi", schema(rename = "for"))]
    pub awaited: AwaitedAnswer,
    /// The question, in words.
    pub reason: String,
    /// Of `auth`, what is to be done.
    pub action: Option<String>,
    /// Of `auth`, to what.
    pub target: Option<String>,
    /// Of `auth`, of which class it is; `custom` if absent.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub class: PermissionClass,
    /// Of `auth`, more for who decides.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub context: JsonObject,
}

impl AwaitTaskRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let class = object.take_word("class", PermissionClass::WORDS, PermissionClass::parse)?;
        Ok(Self {
            awaited: object.require_word("for", AwaitedAnswer::WORDS, AwaitedAnswer::parse)?,
            reason: object.require_text("reason")?,
            action: object.take_nonblank("action")?,
            target: object.take_nonblank("target")?,
            class: class.unwrap_or(PermissionClass::Custom),
            context: object.take_map("context")?.unwrap_or_default(),
        })
    }
}
