//! Task: a piece of work, and the requests that submit and cancel one. Its states are in `task_state`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, JsonObject, MessageInput, ResourceEnvelope, TaskState, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// The word in `object` of this resource.
    HarnTaskObject {
        /// Always this one.
        Task = "task",
    }
}

/// What a Task is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskInput {
    /// In words.
    Message(MessageInput),
    /// As an object of the client's own.
    Object(JsonObject),
}

/// A Task, as this protocol shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnTask {
    /// Always `task`.
    pub object: HarnTaskObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Session that it is in.
    pub session_id: String,
    /// The Workspace.
    pub workspace_id: String,
    /// Where it stands.
    pub status: TaskState,
    /// What it is to do.
    pub input: TaskInput,
    /// Who submitted it.
    pub created_by: String,
    /// Under which Persona.
    pub persona_id: Option<String>,
    /// On which Branch.
    pub branch_id: Option<String>,
    /// What it replays or is a part of.
    pub parent_task_id: Option<String>,
    /// Who works on it.
    pub assigned_agent_id: Option<String>,
    /// Its Receipt, once it can be read.
    pub receipt_id: Option<String>,
    /// Its Outcome, once it can be read.
    pub outcome_id: Option<String>,
    /// Its limits.
    pub quota_id: Option<String>,
    /// When work began.
    pub started_at: Option<String>,
    /// When it was completed or failed; never set for a canceled Task.
    pub completed_at: Option<String>,
    /// When it was canceled.
    pub canceled_at: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// The body of `POST /v1/tasks` and of `POST /v1/sessions/{session_id}/tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubmitTaskRequest {
    /// The Session that it is in; the path may say it instead.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub session_id: String,
    /// The Workspace, if the client wants it checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Under which Persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_id: Option<String>,
    /// On which Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<String>,
    /// What it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// What it is to do.
    pub input: TaskInput,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

impl SubmitTaskRequest {
    /// A Task in a Session, with nothing but what is required.
    #[must_use]
    pub fn new(session_id: impl Into<String>, input: TaskInput) -> Self {
        Self {
            session_id: session_id.into(),
            workspace_id: None,
            persona_id: None,
            branch_id: None,
            parent_task_id: None,
            input,
            metadata: JsonObject::default(),
        }
    }

    /// Reads the body. `session` is the Session of the path, where the path names one; the body may
    /// then leave it out, but not name another.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value, session: Option<&str>) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let named = object.take_id("session_id")?;
        let session_id = match (session, named) {
            (Some(path), Some(named)) if path != named => {
                return Err(object.refuse("session_id", "must be the Session of the path"));
            }
            (Some(path), _) => path.to_owned(),
            (None, Some(named)) => named,
            (None, None) => return Err(object.refuse("session_id", "is required")),
        };
        Ok(Self {
            session_id,
            workspace_id: object.take_id("workspace_id")?,
            persona_id: object.take_id("persona_id")?,
            branch_id: object.take_id("branch_id")?,
            parent_task_id: object.take_id("parent_task_id")?,
            input: read_input(&mut object)?,
            metadata: object.take_metadata()?,
        })
    }
}

/// Reads `input`: a Message, or an object of the client's own. A bare text and `{"text": …}` are what
/// a user said, because published clients send them.
fn read_input(object: &mut ObjectReader) -> Result<TaskInput, ReadError> {
    let path = object.path_of("input");
    match object.take("input") {
        None => Err(object.refuse("input", "is required")),
        Some(Value::String(text)) => Ok(TaskInput::Message(MessageInput::user(text))),
        Some(Value::Object(map)) if map.contains_key("role") || map.contains_key("parts") => {
            let message = ObjectReader::new(&path, Value::Object(map))?;
            MessageInput::read(message).map(TaskInput::Message)
        }
        Some(Value::Object(map)) => Ok(match (map.len(), map.get("text")) {
            (1, Some(Value::String(text))) => TaskInput::Message(MessageInput::user(text.as_str())),
            _ => TaskInput::Object(JsonObject(map)),
        }),
        Some(_) => Err(object.refuse("input", "must be a message or an object")),
    }
}

/// The body of `POST /v1/tasks/{task_id}/cancel`, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelTaskRequest {
    /// The reason that the caller gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelTaskRequest {
    /// Reads the body; absent gives no reason.
    ///
    /// # Errors
    /// Where the body or the reason is malformed.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        Ok(Self { reason: reading::body(value)?.take_nonblank("reason")? })
    }
}
