//! Session: a conversation in a Workspace, and the requests that open, change and fork one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, JsonObject, LiveClient, MessageInput, ResourceEnvelope, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// The word in `object` of this resource.
    HarnSessionObject {
        /// Always this one.
        Session = "session",
    }
}

words! {
    /// Where a Session stands.
    SessionState {
        /// Work goes on.
        Active = "ACTIVE",
        /// Nothing happens now.
        Idle = "IDLE",
        /// Nothing may happen now.
        Paused = "PAUSED",
        /// Over.
        Closed = "CLOSED",
        /// Broken.
        Failed = "FAILED",
    }
}

words! {
    /// How its agent works.
    SessionMode {
        /// It answers.
        Ask = "ask",
        /// It plans.
        Architect = "architect",
        /// It writes.
        Code = "code",
        /// It watches.
        Shadow = "shadow",
    }
}

/// The transcript, or where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Transcript {
    /// Where to read it.
    Uri(String),
    /// The transcript, or a description of it.
    Object(JsonObject),
}

/// Which model its agent uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelPolicy {
    /// Whose.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
}

/// A Session, as this protocol shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnSession {
    /// Always `session`.
    pub object: HarnSessionObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Workspace that it is in.
    pub workspace_id: String,
    /// Where it stands.
    pub state: SessionState,
    /// The transcript, or where it is.
    pub transcript: Transcript,
    /// The Persona of its Tasks.
    pub persona_id: Option<String>,
    /// The first of its forks.
    pub root_session_id: Option<String>,
    /// What it was forked from.
    pub parent_session_id: Option<String>,
    /// Its Branch.
    pub branch_id: Option<String>,
    /// The last thing that happened in it.
    pub last_event_id: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// When it may be forgotten.
    pub expires_at: Option<String>,
    /// How its agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_id: Option<SessionMode>,
    /// Which model its agent uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_policy: Option<ModelPolicy>,
    /// Who looks at it now.
    #[serde(default)]
    pub live_clients: Vec<LiveClient>,
    /// Who of them may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_controller_id: Option<String>,
}

/// The body of `POST /v1/sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateSessionRequest {
    /// The Workspace that it is in.
    pub workspace_id: String,
    /// The Persona of its Tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_id: Option<String>,
    /// The vaults that its Tasks may use.
    #[serde(default)]
    pub vault_ids: Vec<String>,
    /// The memories that it starts with.
    #[serde(default)]
    pub memory_ids: Vec<String>,
    /// The skills that its Tasks may use.
    #[serde(default)]
    pub skill_ids: Vec<String>,
    /// What was said before.
    #[serde(default)]
    pub initial_messages: Vec<MessageInput>,
    /// How its agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_id: Option<SessionMode>,
    /// Which model its agent uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_policy: Option<ModelPolicy>,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

/// What a PATCH of a Session changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateSessionRequest {
    /// What it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub summary: Change<String>,
    /// Which model its agent uses.
    pub model_policy: Option<ModelPolicy>,
    /// Replaces the metadata.
    pub metadata: Option<JsonObject>,
}

/// The body of `POST /v1/sessions/{session_id}/fork`, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForkSessionRequest {
    /// The last event that the fork shares; the newest if absent.
    pub at_event_id: Option<String>,
    /// The Branch of the fork.
    pub branch_id: Option<String>,
    /// The client's own members.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
}

impl CreateSessionRequest {
    /// A Session in a Workspace, with nothing but what is required.
    #[must_use]
    pub fn new(workspace_id: impl Into<String>) -> Self {
        Self {
            workspace_id: workspace_id.into(),
            persona_id: None,
            vault_ids: Vec::new(),
            memory_ids: Vec::new(),
            skill_ids: Vec::new(),
            initial_messages: Vec::new(),
            mode_id: None,
            model_policy: None,
            metadata: JsonObject::default(),
        }
    }

    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let initial_messages = object.take_objects("initial_messages")?;
        Ok(Self {
            workspace_id: object.require_id("workspace_id")?,
            persona_id: object.take_id("persona_id")?,
            vault_ids: object.take_ids("vault_ids")?,
            memory_ids: object.take_ids("memory_ids")?,
            skill_ids: object.take_ids("skill_ids")?,
            initial_messages: initial_messages
                .into_iter()
                .map(MessageInput::read)
                .collect::<Result<_, _>>()?,
            mode_id: object.take_word("mode_id", SessionMode::WORDS, SessionMode::parse)?,
            model_policy: object.take_object("model_policy")?.map(read_model_policy).transpose()?,
            metadata: object.take_metadata()?,
        })
    }
}

impl UpdateSessionRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            summary: object.take_change("summary")?,
            model_policy: object.take_object("model_policy")?.map(read_model_policy).transpose()?,
            metadata: object.take_map("metadata")?,
        })
    }
}

impl ForkSessionRequest {
    /// Reads the body; absent is all defaults.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        let mut object = reading::body(value)?;
        Ok(Self {
            at_event_id: object.take_id("at_event_id")?,
            branch_id: object.take_id("branch_id")?,
            metadata: object.take_metadata()?,
        })
    }
}

fn read_model_policy(mut object: ObjectReader) -> Result<ModelPolicy, ReadError> {
    Ok(ModelPolicy {
        provider: object.require_text("provider")?,
        model: object.require_text("model")?,
        reasoning_effort: object.take_nonblank("reasoning_effort")?,
    })
}
