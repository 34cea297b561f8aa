//! Replay as a request: the mode, what is to be substituted, and what replayed events say of themselves.
//! What needs the source Task (does the key exist, does the hash fit) is judged by whoever has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, Sha256, Visibility, reading};
use crate::{
    json::reader::{ObjectReader, Problem, ReadError, check_id},
    limits::LIST_ENTRIES_MAX,
    words::words,
};

words! {
    /// How to replay. None of the modes ever asks anybody live.
    ReplayMode {
        /// With what was recorded and nothing else.
        Exact = "exact",
        /// With some of what was recorded replaced.
        WithOverrides = "with_overrides",
        /// From a recorded boundary on.
        FromCheckpoint = "from_checkpoint",
    }
}

words! {
    /// What a recorded answer is.
    DependencyKind {
        /// The answer of a model.
        LlmProviderResponse = "llm_provider_response",
        /// The answer of a tool of an MCP server.
        McpToolReturn = "mcp_tool_return",
        /// A secret.
        SecretValue = "secret_value",
        /// A reading of a clock.
        Time = "time",
        /// Something that the host said.
        HostFact = "host_fact",
        /// The answer of a tool.
        ToolResult = "tool_result",
        /// The particulars of an event.
        EventPayload = "event_payload",
        /// The state at a checkpoint.
        CheckpointValue = "checkpoint_value",
    }
}

/// A substitute for one recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayOverride {
    /// What it is.
    pub kind: DependencyKind,
    /// The event that recorded what it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// What it is for: a call, a tool call, the name of a secret, the label of a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The value. Null counts as a value where the member is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The Artifact that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Its digest, as the caller declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// Who may see it.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub visibility: Visibility,
    /// The reason that the caller gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The body of `POST /v1/tasks/{task_id}/replay`, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayTaskRequest {
    /// How to replay.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub mode: ReplayMode,
    /// What to substitute, by key.
    #[cfg_attr(feature = "openapi", schema(rename = "override", required = false))]
    #[serde(rename = "override")]
    pub overrides: BTreeMap<String, ReplayOverride>,
    /// The checkpoint to begin from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// The event of the checkpoint to begin from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_event_id: Option<String>,
    /// The reason that the caller gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Ours: whether the first drift fails the replay. `metadata.strict` says the same.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub strict: bool,
    /// The client's own members, and our `executor`, `queue` and `strict`.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
}

impl Default for ReplayTaskRequest {
    fn default() -> Self {
        Self {
            mode: ReplayMode::Exact,
            overrides: BTreeMap::new(),
            checkpoint_id: None,
            checkpoint_event_id: None,
            reason: None,
            strict: false,
            metadata: JsonObject::default(),
        }
    }
}

impl ReplayTaskRequest {
    /// Reads the body; absent is an exact replay.
    ///
    /// # Errors
    /// Where a member is malformed or the members contradict each other; the error names one.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        let mut object = reading::body(value)?;
        let strict = object.take_bool("strict")?;
        let metadata = object.take_metadata()?;
        let strict = match (strict, metadata.get("strict")) {
            (Some(strict), _) => strict,
            (None, Some(Value::Bool(strict))) => *strict,
            (None, None) => false,
            (None, Some(_)) => {
                return Err(object.refuse("metadata.strict", "must be true or false"));
            }
        };
        let request = Self {
            mode: object
                .take_word("mode", ReplayMode::WORDS, ReplayMode::parse)?
                .unwrap_or(ReplayMode::Exact),
            overrides: read_overrides(&mut object)?,
            checkpoint_id: object.take_id("checkpoint_id")?,
            checkpoint_event_id: object.take_id("checkpoint_event_id")?,
            reason: object.take_nonblank("reason")?,
            strict,
            metadata,
        };
        request.check_mode(&object)?;
        Ok(request)
    }

    fn check_mode(&self, object: &ObjectReader) -> Result<(), ReadError> {
        if self.mode == ReplayMode::Exact && !self.overrides.is_empty() {
            let problem = "must be empty when mode is exact; use with_overrides";
            return Err(object.refuse("override", problem));
        }
        let named = [
            ("checkpoint_id", self.checkpoint_id.is_some()),
            ("checkpoint_event_id", self.checkpoint_event_id.is_some()),
        ];
        let first = named.into_iter().find_map(|(key, there)| there.then_some(key));
        match (self.mode, first) {
            (ReplayMode::FromCheckpoint, None) => Err(object.refuse(
                "checkpoint_id",
                "this or checkpoint_event_id is required when mode is from_checkpoint",
            )),
            (ReplayMode::Exact | ReplayMode::WithOverrides, Some(key)) => {
                Err(object.refuse(key, "is only for mode from_checkpoint"))
            }
            (ReplayMode::FromCheckpoint, Some(_))
            | (ReplayMode::Exact | ReplayMode::WithOverrides, None) => Ok(()),
        }
    }
}

fn read_overrides(
    object: &mut ObjectReader,
) -> Result<BTreeMap<String, ReplayOverride>, ReadError> {
    let path = object.path_of("override");
    let Some(map) = object.take_map("override")? else { return Ok(BTreeMap::new()) };
    if map.len() > LIST_ENTRIES_MAX {
        let problem =
            Problem::found(format!("must hold at most {LIST_ENTRIES_MAX} keys"), map.len());
        return Err(object.refuse("override", problem));
    }
    map.0
        .into_iter()
        .map(|(key, value)| {
            let path = format!("{path}.{key}");
            check_id(&key).map_err(|problem| ReadError::new(path.as_str(), problem))?;
            let read = read_override(ObjectReader::new(&path, value)?)?;
            Ok((key, read))
        })
        .collect()
}

fn read_override(mut object: ObjectReader) -> Result<ReplayOverride, ReadError> {
    let kind = object.require_word("kind", DependencyKind::WORDS, DependencyKind::parse)?;
    let value = if object.has("value") { Some(object.require_value("value")?) } else { None };
    let artifact_id = object.take_id("artifact_id")?;
    if value.is_none() && artifact_id.is_none() {
        return Err(object.refuse("value", "this or artifact_id is required"));
    }
    Ok(ReplayOverride {
        kind,
        event_id: object.take_id("event_id")?,
        target: object.take_nonblank("target")?,
        value,
        artifact_id,
        sha256: object.take_digest("sha256")?,
        visibility: object
            .take_word("visibility", Visibility::WORDS, Visibility::parse)?
            .unwrap_or(Visibility::ReceiptOnly),
        reason: object.take_nonblank("reason")?,
    })
}

/// The body of `POST /v1/sessions/{session_id}/replay`, which may be absent. Ours: every Task of the Session is
/// replayed exactly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplaySessionRequest {
    /// The reason that the caller gives.
    pub reason: Option<String>,
    /// The client's own members, for the Session that is made.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
}

impl ReplaySessionRequest {
    /// Reads the body; absent is all defaults.
    ///
    /// # Errors
    /// Where a member is malformed, or the mode is another than `exact`.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        let mut object = reading::body(value)?;
        let mode = object.take_word("mode", ReplayMode::WORDS, ReplayMode::parse)?;
        if mode.is_some_and(|mode| mode != ReplayMode::Exact) {
            return Err(object.refuse("mode", "must be exact: keys are each Task's own"));
        }
        Ok(Self { reason: object.take_nonblank("reason")?, metadata: object.take_metadata()? })
    }
}

/// What a replayed event says of itself. All members are written whenever ids are remapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayEventMetadata {
    /// The Task that is replayed.
    pub source_task_id: String,
    /// The Task that replays it.
    pub replay_task_id: String,
    /// The event that this one repeats.
    pub original_event_id: Option<String>,
    /// The place in the replay.
    pub replay_cursor: Option<String>,
    /// How it is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ReplayMode>,
    /// The key whose substitute made this event; null if none did.
    pub override_key: Option<String>,
    /// The delta of the receipt that tells of it.
    pub receipt_delta_id: Option<String>,
}
