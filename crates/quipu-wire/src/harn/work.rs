//! What a worker says while it works on a Task. All of this is ours, beside the protocol: an Akashik agent does
//! the same by COORDINATE.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{DependencyKind, EventName, JsonObject, Sha256, Visibility, null_too, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::{LEASE_MS_MAX, LEASE_MS_MIN},
    words::words,
};

/// How long a claim lasts if the worker does not say.
pub const LEASE_MS_DEFAULT: u64 = 60_000;

/// The key of a recorded answer: `<class>:<rest>`, such as `llm:main:1`, `mcp:github:7`, `secret:token`,
/// `time:started_at`, `host:attune:1`. The rest may have colons of its own.
#[must_use]
pub fn is_dependency_key(key: &str) -> bool {
    key.split_once(':').is_some_and(|(class, rest)| {
        let mut letters = class.bytes();
        letters.next().is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            && !rest.trim().is_empty()
    })
}

/// The body of `POST /v1/tasks/{task_id}/claim`, which may be absent. Claiming again renews the lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimTaskRequest {
    /// How long the claim lasts.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub lease_ms: u64,
    /// The worker, where the key may speak for any agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// The body of `POST /v1/tasks/{task_id}/events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendEventRequest {
    /// What happened.
    pub event: EventName,
    /// The particulars.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub payload: JsonObject,
    /// Who may see them.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub visibility: Visibility,
}

/// The body of `POST /v1/tasks/{task_id}/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompleteTaskRequest {
    /// What came of it, in words.
    pub summary: String,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The Artifacts that came of it.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub artifacts: Vec<String>,
}

/// The body of `POST /v1/tasks/{task_id}/fail`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailTaskRequest {
    /// A word for it.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub code: String,
    /// A sentence.
    pub message: String,
    /// More, for programs.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub details: JsonObject,
    /// Whether another attempt may do better: while the Task's `metadata.retry` has attempts left it is due again.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub retryable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DependencyAnswer {
    Value(Value),
    Artifact(String),
}

/// The body of `POST /v1/tasks/{task_id}/dependencies`: one answer that the work consumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordDependencyRequest {
    pub key: String,
    pub kind: DependencyKind,
    /// The digest of what was asked; a replay that asks something else is told so.
    pub request: Option<Sha256>,
    pub answer: DependencyAnswer,
    /// Who may see it; a secret is never more than `receipt_only`.
    pub visibility: Visibility,
}

words! {
    /// The word in `object` of a recorded answer.
    RecordedDependencyObject {
        /// Always this one.
        Dependency = "dependency",
    }
}

/// The answer to `POST /v1/tasks/{task_id}/dependencies`: what is known of it from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordedDependencyResource {
    /// Always `dependency`.
    pub object: RecordedDependencyObject,
    /// The Task.
    pub task_id: String,
    /// Its key.
    pub key: String,
    /// What it is.
    pub kind: DependencyKind,
    /// Who may see it.
    pub visibility: Visibility,
    /// Its digest; of a secret, one that only this server can make.
    pub sha256: Option<Sha256>,
    /// The digest of what was asked.
    pub request_sha256: Option<Sha256>,
    /// The Artifact that holds it.
    pub artifact_id: Option<String>,
    /// The Event that tells of it.
    pub event_id: String,
}

/// The body of `POST /v1/tasks/{task_id}/dependencies/resolve`: a worker that replays asks for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResolveDependencyRequest {
    /// Its key.
    pub key: String,
    /// The digest of what would be asked.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub request: Option<Sha256>,
}

/// The body of `POST /v1/tasks/{task_id}/checkpoints`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordCheckpointRequest {
    /// What the boundary is called.
    pub label: String,
    /// The state at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

words! {
    /// Where a resolved answer comes from.
    ResolutionSource {
        /// It was recorded.
        Recorded = "recorded",
        /// The replay substitutes it.
        Overridden = "overridden",
    }
}

/// The answer to `resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResolvedDependency {
    /// Its key.
    pub key: String,
    /// Where the answer comes from.
    pub source: ResolutionSource,
    /// What it is.
    pub kind: DependencyKind,
    /// The answer, where it is not in an Artifact. Null is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null_too")]
    pub value: Option<Value>,
    /// The Artifact that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Its digest.
    pub sha256: Sha256,
    /// Whether something else is asked now than was asked then.
    pub divergent: bool,
}

impl ClaimTaskRequest {
    /// Reads the body; absent is the default lease.
    ///
    /// # Errors
    /// Where `lease_ms` is not within its limits.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let lease_ms = LEASE_MS_DEFAULT;
        let Some(value) = value else { return Ok(Self { lease_ms, agent_id: None }) };
        let mut object = reading::body(value)?;
        let agent_id = object.take_id("agent_id")?;
        let lease_ms = read_lease(&mut object)?.unwrap_or(lease_ms);
        Ok(Self { lease_ms, agent_id })
    }
}

impl AppendEventRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed, or the event is one that only the server writes.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let event = object.require_word("event", "the taxonomy or `vendor.…`", EventName::parse)?;
        if let EventName::Known(kind) = event
            && !kind.is_appendable()
        {
            return Err(object.refuse("event", format!("{kind} is written by the server alone")));
        }
        Ok(Self {
            event,
            payload: object.take_map("payload")?.unwrap_or_default(),
            visibility: read_visibility(&mut object, Visibility::Public)?,
        })
    }
}

impl CompleteTaskRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let summary = object.require_text("summary")?;
        let output =
            if object.has("output") { Some(object.require_value("output")?) } else { None };
        Ok(Self { summary, output, artifacts: object.take_ids("artifacts")? })
    }
}

impl FailTaskRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            code: object.take_id("code")?.unwrap_or_else(|| "task_failed".to_owned()),
            message: object.require_text("message")?,
            details: object.take_map("details")?.unwrap_or_default(),
            retryable: object.take_bool("retryable")?.unwrap_or(false),
        })
    }
}

impl RecordDependencyRequest {
    /// Reads the body. A secret is `receipt_only` whatever the body says.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let key = read_key(&mut object)?;
        let kind = object.require_word("kind", DependencyKind::WORDS, DependencyKind::parse)?;
        let value = if object.has("value") { Some(object.require_value("value")?) } else { None };
        let answer = match (value, object.take_id("artifact_id")?) {
            (Some(value), None) => DependencyAnswer::Value(value),
            (None, Some(id)) => DependencyAnswer::Artifact(id),
            (None, None) => return Err(object.refuse("value", "this or artifact_id is required")),
            (Some(_), Some(_)) => {
                return Err(object.refuse("artifact_id", "must be absent where value is given"));
            }
        };
        let asked = read_visibility(&mut object, Visibility::Internal)?;
        let secret = kind == DependencyKind::SecretValue;
        let visibility = if secret { Visibility::ReceiptOnly } else { asked };
        Ok(Self { key, kind, request: read_request(&mut object)?, answer, visibility })
    }
}

impl ResolveDependencyRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self { key: read_key(&mut object)?, request: read_request(&mut object)? })
    }
}

impl RecordCheckpointRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let label = object.require_id("label")?;
        let state = if object.has("state") { Some(object.require_value("state")?) } else { None };
        Ok(Self { label, state })
    }
}

/// Reads `lease_ms`.
pub(super) fn read_lease(object: &mut ObjectReader) -> Result<Option<u64>, ReadError> {
    match object.take_integer("lease_ms")? {
        Some(lease_ms) if !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&lease_ms) => {
            let problem = format!("must be from {LEASE_MS_MIN} to {LEASE_MS_MAX}");
            Err(object.refuse("lease_ms", problem))
        }
        lease_ms => Ok(lease_ms),
    }
}

fn read_visibility(object: &mut ObjectReader, absent: Visibility) -> Result<Visibility, ReadError> {
    Ok(object.take_word("visibility", Visibility::WORDS, Visibility::parse)?.unwrap_or(absent))
}

fn read_key(object: &mut ObjectReader) -> Result<String, ReadError> {
    let key = object.require_id("key")?;
    if is_dependency_key(&key) {
        return Ok(key);
    }
    Err(object.refuse("key", "must be of the form class:rest, such as llm:main:1"))
}

/// Only the digest of what was asked is kept: prompts may hold what nobody should read later.
fn read_request(object: &mut ObjectReader) -> Result<Option<Sha256>, ReadError> {
    let Some(request) = object.take("request") else { return Ok(None) };
    let digest = Sha256::of_json(&request);
    digest.map(Some).map_err(|error| object.refuse("request", error.to_string()))
}

/// Written by hand, because the members of the body are not those of the struct: exactly one of `value` and
/// `artifact_id` is there, and `request` is kept only as its digest.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for RecordDependencyRequest {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .property("key", String::schema())
            .required("key")
            .property("kind", DependencyKind::schema())
            .required("kind")
            .property("request", Value::schema())
            .property("value", Value::schema())
            .property("artifact_id", String::schema())
            .property("visibility", Visibility::schema())
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for RecordDependencyRequest {}
