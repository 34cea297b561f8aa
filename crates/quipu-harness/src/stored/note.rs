//! The body of a note on a Task, and the names of notes that are this server's own.

use quipu_wire::harn::{JsonObject, ReplayEventMetadata, Sha256, null_too};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) const DEPENDENCY_RECORDED: &str = "vendor.dependency.recorded";
pub(crate) const CHECKPOINT_CREATED: &str = "vendor.checkpoint.created";
pub(crate) const MODULE_DIED: &str = "vendor.module.died";

/// The body of a note: what everybody may read of it, and what it recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NoteBody {
    /// The particulars, which are shown to whom the note's visibility allows.
    pub payload: JsonObject,
    /// The answer that was recorded, where it is kept here. Null is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null_too")]
    pub value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// The digest of the answer; of a secret, a keyed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sha256: Option<Sha256>,
    /// What it repeats, where a worker that replays was given an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayEventMetadata>,
}
