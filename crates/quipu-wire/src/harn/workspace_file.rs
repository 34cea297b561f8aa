//! Files of a Workspace: a text under a path, and what is in a directory.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, reading};
use crate::{
    json::reader::ReadError,
    limits::{TEXT_BYTES_MAX, WORKSPACE_FILE_BYTES_MAX},
    words::words,
};

words! {
    /// The word in `object` of what is read under a path.
    FileObject {
        /// A file.
        File = "file",
        /// What is in a directory.
        Listing = "file_listing",
    }
}

words! {
    /// How the content of a file is written in JSON.
    FileEncoding {
        /// As it is.
        Utf8 = "utf-8",
    }
}

words! {
    /// What an entry of a directory is.
    FileKind {
        /// A file.
        File = "file",
        /// A directory: a name that files are under.
        Directory = "directory",
    }
}

/// A file of a Workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkspaceFile {
    /// Always `file`.
    pub object: FileObject,
    /// The Workspace that it is in.
    pub workspace_id: String,
    /// Its path there.
    pub path: String,
    /// How `content` is written.
    pub encoding: FileEncoding,
    /// What it says. The answer to a write leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// The digest of its content, without a prefix. Ours.
    pub sha256: String,
    /// Which version it is, from 1. Ours.
    pub version: u64,
    /// The Artifact that this version is. Ours.
    pub artifact_id: String,
    /// Who wrote this version. Ours.
    pub updated_by: String,
    /// When this version was written. Ours.
    pub updated_at: String,
    /// The client's own members. Ours.
    #[serde(default)]
    pub metadata: JsonObject,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkspaceFileEntry {
    /// Its name in the directory.
    pub name: String,
    /// Its path in the Workspace.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// How many bytes a file has; 0 for a directory.
    pub size: u64,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkspaceFileListing {
    /// Always `file_listing`.
    pub object: FileObject,
    /// The Workspace.
    pub workspace_id: String,
    /// The directory; `.` for the Workspace itself.
    pub path: String,
    /// What is in it, at most 500, in the order of their names.
    pub entries: Vec<WorkspaceFileEntry>,
    /// Where there is more: what to send as `after` for it. Ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The answer to reading a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum FileOrListing {
    /// There is a file under it.
    File(WorkspaceFile),
    /// It is a directory.
    Listing(WorkspaceFileListing),
}

/// The body of `PUT /v1/workspaces/{workspace_id}/files`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WriteFileRequest {
    /// Its path in the Workspace. It goes before the one in the query.
    pub path: Option<String>,
    /// What it is to say.
    pub content: String,
    /// The client's own members.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
}

impl WriteFileRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing, malformed or too long; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let path = object.take_text("path", TEXT_BYTES_MAX)?;
        let content = object.take_text("content", WORKSPACE_FILE_BYTES_MAX)?;
        Ok(Self {
            path,
            content: content.ok_or_else(|| object.refuse("content", "is required"))?,
            metadata: object.take_metadata()?,
        })
    }
}
