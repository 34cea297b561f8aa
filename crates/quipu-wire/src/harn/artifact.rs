//! Artifact: something that a Task made or used, and the request that registers one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, ResourceEnvelope, Sha256, Visibility, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of this resource.
    ArtifactObject {
        /// Always this one.
        Artifact = "artifact",
    }
}

words! {
    /// What an Artifact is.
    ArtifactKind {
        /// A file.
        File = "file",
        /// A patch.
        Patch = "patch",
        /// An image.
        Image = "image",
        /// A log.
        Log = "log",
        /// A difference.
        Diff = "diff",
        /// A receipt.
        Receipt = "receipt",
        /// A state to begin from again.
        Snapshot = "snapshot",
        /// Data.
        Dataset = "dataset",
        /// Something else.
        Other = "other",
    }
}

/// An Artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Artifact {
    /// Always `artifact`.
    pub object: ArtifactObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// What it is.
    pub kind: ArtifactKind,
    /// Of what type its content is.
    pub mime_type: String,
    /// Where its content is.
    pub uri: Option<String>,
    /// Who may see it.
    pub visibility: Visibility,
    /// The digest of its content: 64 hexadecimal digits, without a prefix.
    pub sha256: Option<String>,
    /// The Workspace.
    pub workspace_id: Option<String>,
    /// The Session.
    pub session_id: Option<String>,
    /// The Task.
    pub task_id: Option<String>,
    /// The Receipt that proves it.
    pub receipt_id: Option<String>,
}

/// The body of `POST /v1/artifacts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterArtifactRequest {
    /// What it is.
    pub kind: ArtifactKind,
    /// Of what type its content is.
    pub mime_type: String,
    /// Where its content is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Who may see it.
    pub visibility: Visibility,
    /// The digest of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// The Workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The Session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The Task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

impl RegisterArtifactRequest {
    /// Reads the body. `sha256` comes bare and in either case of letters.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let sha256 = match object.take_nonblank("sha256")? {
            None => None,
            Some(text) => Some(Sha256::parse_bare(&text).map_err(|_| {
                object.refuse("sha256", "must be 64 hexadecimal digits, without a prefix")
            })?),
        };
        Ok(Self {
            kind: object.require_word("kind", ArtifactKind::WORDS, ArtifactKind::parse)?,
            mime_type: object.require_text("mime_type")?,
            uri: object.take_nonblank("uri")?,
            visibility: object.require_word("visibility", Visibility::WORDS, Visibility::parse)?,
            sha256,
            workspace_id: object.take_id("workspace_id")?,
            session_id: object.take_id("session_id")?,
            task_id: object.take_id("task_id")?,
            metadata: object.take_metadata()?,
        })
    }
}
