//! Branch: a line of work beside the main one, and the request that makes one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, ResourceEnvelope, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of this resource.
    BranchObject {
        /// Always this one.
        Branch = "branch",
    }
}

words! {
    /// What a Branch is a branch of.
    BranchKind {
        /// A Workspace.
        Workspace = "workspace",
        /// A Session.
        Session = "session",
        /// A Task.
        Task = "task",
        /// Nothing: it stands apart.
        Sandbox = "sandbox",
    }
}

/// A Branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Branch {
    /// Always `branch`.
    pub object: BranchObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Workspace that it is in.
    pub workspace_id: String,
    /// What it is a branch of.
    pub kind: BranchKind,
    /// Where it begins.
    pub base_ref: String,
    /// The Branch that it left.
    pub parent_branch_id: Option<String>,
    /// The Session.
    pub session_id: Option<String>,
    /// The Task.
    pub task_id: Option<String>,
    /// Where its files are.
    pub worktree_uri: Option<String>,
    /// Who made it.
    pub created_by: Option<String>,
    /// Where it went.
    pub merged_into: Option<String>,
}

/// The body of `POST /v1/sessions/{session_id}/branches`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateBranchRequest {
    /// What it is a branch of.
    pub kind: BranchKind,
    /// Where it begins.
    pub base_ref: String,
    /// The Branch that it leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_branch_id: Option<String>,
    /// The Task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

impl CreateBranchRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            kind: object.require_word("kind", BranchKind::WORDS, BranchKind::parse)?,
            base_ref: object.require_text("base_ref")?,
            parent_branch_id: object.take_id("parent_branch_id")?,
            task_id: object.take_id("task_id")?,
            metadata: object.take_metadata()?,
        })
    }
}
