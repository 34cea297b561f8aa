//! A finished Task as one document, to be taken to another server: ours, beside the protocol. It holds what a
//! replay and its receipt are made from, and no secret.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Artifact, DependencyKind, EventName, HarnTask, JsonObject, Outcome, Receipt, Sha256,
    Visibility, null_too,
};
use crate::words::words;

words! {
    /// The word in `object` of this document.
    TaskExportObject {
        /// Always this one.
        TaskExport = "task_export",
    }
}

words! {
    /// The form of the document.
    TaskExportFormat {
        /// The first one.
        V1 = "quipu-task-export-1",
    }
}

/// A finished Task as one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskExport {
    /// Always `task_export`.
    pub object: TaskExportObject,
    /// The form of the document.
    pub format: TaskExportFormat,
    /// The Task.
    pub task: HarnTask,
    /// What happened, in order.
    pub events: Vec<ExportedEvent>,
    /// What it made and used, with content where that is kept.
    #[serde(default)]
    pub artifacts: Vec<ExportedArtifact>,
    /// How it ended.
    #[serde(default)]
    pub outcome: Option<Outcome>,
    /// Its receipt, from which those of its replays take where and under what it ran.
    #[serde(default)]
    pub receipt: Option<Receipt>,
}

/// An event with what it recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedEvent {
    /// Its id, which it keeps.
    pub id: String,
    /// What happened.
    pub event: EventName,
    /// Its place; grows from event to event.
    pub sequence: u64,
    /// The time of the event.
    pub created_at: String,
    /// Who may see the payload.
    #[serde(default = "public")]
    pub visibility: Visibility,
    /// The particulars.
    #[serde(default)]
    pub payload: JsonObject,
    /// Their digest, where they are kept only so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// The answer that it recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<ExportedDependency>,
    /// The checkpoint that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedDependency {
    /// Its key.
    pub key: String,
    /// What it is.
    pub kind: DependencyKind,
    /// The digest of the answer; of a secret, a keyed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// The digest of what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sha256: Option<Sha256>,
    /// The answer, where it is kept here. Null is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null_too")]
    pub value: Option<Value>,
    /// The Artifact that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

/// An Artifact with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedArtifact {
    /// The Artifact.
    pub artifact: Artifact,
    /// Its content, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<String>,
}

const fn public() -> Visibility {
    Visibility::Public
}
