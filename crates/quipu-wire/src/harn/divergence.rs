//! The answer to `GET /v1/tasks/{task_id}/divergence`, which is ours: how a replay differs from its source.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Sha256;
use crate::words::words;

words! {
    /// The word in `object` of this answer.
    DivergenceObject {
        /// Always this one.
        Divergence = "divergence",
    }
}

/// One side of an event that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventSide {
    /// Which event.
    pub event_id: String,
    /// What happened.
    pub event: String,
    /// Its place.
    pub sequence: u64,
    /// The digest of its payload.
    pub sha256: Sha256,
}

/// The first place where the two differ; one side is null where a run ended earlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DivergentEvent {
    /// Which event of the run, from 0.
    pub index: u64,
    /// In the source.
    pub source: Option<EventSide>,
    /// In the replay.
    pub replay: Option<EventSide>,
}

/// An answer that was not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangedDependency {
    /// Its key.
    pub key: String,
    /// What it was in the source.
    pub source_sha256: Option<Sha256>,
    /// What it was in the replay.
    pub replay_sha256: Option<Sha256>,
    /// Whether the replay substituted it.
    pub overridden: bool,
}

/// A question that was not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestDrift {
    /// The key.
    pub key: String,
    /// The digest of what was asked in the source.
    pub recorded: Option<Sha256>,
    /// The digest of what was asked in the replay.
    pub asked: Option<Sha256>,
}

/// What came of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutputPair {
    /// Whether it is the same.
    pub equal: bool,
    /// Of the source.
    pub source: Option<Value>,
    /// Of the replay.
    pub replay: Option<Value>,
}

/// How a replay differs from its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Divergence {
    /// Always `divergence`.
    pub object: DivergenceObject,
    /// The source.
    pub source_task_id: String,
    /// The replay.
    pub replay_task_id: String,
    /// Whether they differ at all.
    pub diverged: bool,
    /// How many events were compared.
    pub events_compared: u64,
    /// Where they first differ.
    pub first_difference: Option<DivergentEvent>,
    /// The answers that were not the same.
    pub dependencies: Vec<ChangedDependency>,
    /// The questions that were not the same.
    pub request_drift: Vec<RequestDrift>,
    /// What came of both.
    pub output: OutputPair,
}
