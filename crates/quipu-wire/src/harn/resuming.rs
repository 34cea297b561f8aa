//! What a worker asks that goes on where another was lost: the next Task, a longer lease, the answers recorded so far.
//! All of this is ours, beside the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    DependencyKind, JsonObject, LEASE_MS_DEFAULT, ResolvedDependency, Sha256, Visibility, null_too,
    reading, work::read_lease,
};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

/// How long a worker may wait for the next Task.
pub const CLAIM_WAIT_MS_MAX: u64 = 30_000;
pub const ATTEMPTS_MAX: u64 = 100;
pub const BACKOFF_MS_MAX: u64 = 24 * 60 * 60 * 1000;
const BACKOFF_FACTOR_MAX: f64 = 10.0;
const BACKOFF_FACTOR_THOUSANDTHS: u32 = 2000;

/// The body of `POST /v1/tasks/{task_id}/heartbeat`, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeartbeatRequest {
    /// How long the lease lasts from now on; as long as before if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// The worker, where the key may speak for any agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

words! {
    /// The word in `object` of a lease.
    LeaseObject {
        /// Always this one.
        Lease = "lease",
    }
}

/// Until when a worker has a Task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeaseResource {
    /// Always `lease`.
    pub object: LeaseObject,
    /// The Task.
    pub task_id: String,
    /// Who has it.
    pub agent_id: String,
    /// When it is given back; null where it is held without end.
    pub expires_at: Option<String>,
}

/// Which Tasks a worker wants, besides queue and Persona.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimFilter {
    /// Of this Session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Of this Workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Part of this Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// Submitted by this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

/// The body of `POST /v1/tasks/claim`. At least one of `queue`, `persona_id` and `filter` is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimNextRequest {
    /// Of this queue, which the Task's `metadata.queue` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Of this Persona.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona_id: Option<String>,
    /// What else must be so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<ClaimFilter>,
    /// How long the claim lasts.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub lease_ms: u64,
    /// How long to wait for one, at most 30,000.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub wait_ms: u64,
    /// The worker, where the key may speak for any agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

words! {
    /// Why an answer is not given back.
    Withheld {
        /// It is a secret, of which only a hash is kept.
        Secret = "secret",
        /// It is not for the caller.
        Visibility = "visibility",
        /// It was erased.
        Erased = "erased",
    }
}

words! {
    /// The word in `object` of an answer in a list.
    DependencyEntryObject {
        /// Always this one.
        Dependency = "dependency",
    }
}

/// One answer that a Task recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DependencyEntry {
    /// Always `dependency`.
    pub object: DependencyEntryObject,
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
    /// The answer, where it is not in an Artifact and not withheld. Null is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null_too")]
    pub value: Option<Value>,
    /// The Artifact that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Why it is not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// The Event that tells of it.
    pub event_id: String,
}

words! {
    /// That a key has no answer to give.
    NoSource {
        /// Always this one.
        None = "none",
    }
}

/// The answer to `resolve` where a run that is no replay has nothing to give back under a key: the worker asks outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnresolvedDependency {
    /// Its key.
    pub key: String,
    /// Always `none`.
    pub source: NoSource,
    /// What was recorded, if something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DependencyKind>,
    /// The digest of what was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// Why it cannot be given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

/// The answer to `resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ResolveAnswer {
    /// There is one.
    Known(ResolvedDependency),
    /// There is none; only a run that is no replay is answered so.
    Unknown(UnresolvedDependency),
}

/// What a Task's metadata say of who is to find it and how often it is tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueTerms {
    pub queue: Option<String>,
    pub retry: Option<RetryTerms>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryTerms {
    pub max_attempts: u32,
    pub backoff_ms: u64,
    /// By how many thousandths of itself the pause grows with each attempt.
    pub factor_thousandths: u32,
    pub max_backoff_ms: u64,
}

impl HeartbeatRequest {
    /// Reads the body; absent is a lease as long as before.
    ///
    /// # Errors
    /// Where `lease_ms` is not within its limits.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        let mut object = reading::body(value)?;
        Ok(Self { lease_ms: read_lease(&mut object)?, agent_id: object.take_id("agent_id")? })
    }
}

impl ClaimNextRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed, or nothing says which Tasks are wanted.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let request = Self {
            queue: object.take_id("queue")?,
            persona_id: object.take_id("persona_id")?,
            filter: object.take_object("filter")?.map(ClaimFilter::read).transpose()?,
            lease_ms: read_lease(&mut object)?.unwrap_or(LEASE_MS_DEFAULT),
            wait_ms: object.take_integer("wait_ms")?.unwrap_or(0),
            agent_id: object.take_id("agent_id")?,
        };
        if request.wait_ms > CLAIM_WAIT_MS_MAX {
            return Err(object.refuse("wait_ms", format!("must be at most {CLAIM_WAIT_MS_MAX}")));
        }
        if request.queue.is_none() && request.persona_id.is_none() && request.filter.is_none() {
            return Err(object.refuse("queue", "this, persona_id or filter is required"));
        }
        Ok(request)
    }
}

impl ClaimFilter {
    fn read(mut object: ObjectReader) -> Result<Self, ReadError> {
        let filter = Self {
            session_id: object.take_id("session_id")?,
            workspace_id: object.take_id("workspace_id")?,
            parent_task_id: object.take_id("parent_task_id")?,
            created_by: object.take_id("created_by")?,
        };
        if filter == Self::default() {
            let problem = "must name session_id, workspace_id, parent_task_id or created_by";
            return Err(ReadError::new("filter", problem));
        }
        object.refuse_leftovers()?;
        Ok(filter)
    }
}

impl QueueTerms {
    /// Reads `queue` and `retry` of a Task's metadata.
    ///
    /// # Errors
    /// Where one of them is malformed; the error names it.
    pub fn of_metadata(metadata: &JsonObject) -> Result<Self, ReadError> {
        let named = metadata.iter().filter(|(name, _)| matches!(name.as_str(), "queue" | "retry"));
        let ours = named.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut object = ObjectReader::new("metadata", Value::Object(ours))?;
        let queue = object.take_id("queue")?;
        let retry = object.take_object("retry")?.map(RetryTerms::read).transpose()?;
        Ok(Self { queue, retry })
    }
}

impl RetryTerms {
    fn read(mut object: ObjectReader) -> Result<Self, ReadError> {
        let attempts = object.take_integer("max_attempts")?;
        let attempts = attempts.filter(|number| (1..=ATTEMPTS_MAX).contains(number));
        let attempts = attempts.and_then(|number| u32::try_from(number).ok());
        let Some(max_attempts) = attempts else {
            let problem = format!("is required: an integer from 1 to {ATTEMPTS_MAX}");
            return Err(object.refuse("max_attempts", problem));
        };
        let terms = Self {
            max_attempts,
            backoff_ms: read_pause(&mut object, "backoff_ms")?.unwrap_or(0),
            factor_thousandths: read_factor(&mut object)?,
            max_backoff_ms: read_pause(&mut object, "max_backoff_ms")?.unwrap_or(BACKOFF_MS_MAX),
        };
        object.refuse_leftovers()?;
        Ok(terms)
    }
}

fn read_pause(object: &mut ObjectReader, key: &str) -> Result<Option<u64>, ReadError> {
    match object.take_integer(key)? {
        Some(pause) if pause > BACKOFF_MS_MAX => {
            Err(object.refuse(key, format!("must be at most {BACKOFF_MS_MAX}")))
        }
        pause => Ok(pause),
    }
}

/// A factor in thousandths: the state of a Field knows no fractions.
fn read_factor(object: &mut ObjectReader) -> Result<u32, ReadError> {
    let Some(value) = object.take("backoff_factor") else { return Ok(BACKOFF_FACTOR_THOUSANDTHS) };
    let factor = value.as_f64().filter(|factor| (1.0..=BACKOFF_FACTOR_MAX).contains(factor));
    let Some(factor) = factor else {
        let problem = format!("must be a number from 1 to {BACKOFF_FACTOR_MAX}");
        return Err(object.refuse("backoff_factor", problem));
    };
    let thousandths = (1000..=10_000).find(|number| f64::from(*number) >= factor * 1000.0 - 0.5);
    Ok(thousandths.unwrap_or(BACKOFF_FACTOR_THOUSANDTHS))
}
