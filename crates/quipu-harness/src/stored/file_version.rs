//! What the document of a Workspace's file says, once for each version. What it says itself is in an Artifact.

use quipu_wire::harn::Sha256;
use serde::{Deserialize, Serialize};

/// The body of a file's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileVersion {
    /// The Artifact that has the content.
    pub(crate) artifact_id: String,
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
    /// From 1.
    pub(crate) version: u64,
    /// Who wrote it.
    pub(crate) by: String,
    /// The authority with which it was written.
    pub(crate) authority: u8,
}
