//! Workspace: the boundary within which resources belong together, and its requests.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, JsonObject, ResourceEnvelope, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of this resource.
    WorkspaceObject {
        /// Always this one.
        Workspace = "workspace",
    }
}

/// A Workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workspace {
    /// Always `workspace`.
    pub object: WorkspaceObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// Its name.
    pub name: String,
    /// Where its files are.
    pub root: String,
    /// The Branch that work is on unless it says otherwise.
    pub default_branch_id: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// The repository.
    pub repository: Option<String>,
    /// The tenant.
    pub tenant_id: Option<String>,
    /// What may be done in it.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// The connectors that feed it.
    #[serde(default)]
    pub connectors: Vec<String>,
    /// Its limits.
    pub quota_id: Option<String>,
}

/// The body of `POST /v1/workspaces`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateWorkspaceRequest {
    /// Its name.
    pub name: String,
    /// Where its files are.
    pub root: String,
    /// The image of its sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What is installed in the sandbox.
    #[serde(default)]
    pub packages: Vec<String>,
    /// What the sandbox may reach.
    #[serde(default)]
    pub network_policy: JsonObject,
    /// What runs the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_backend: Option<String>,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

/// What a PATCH of a Workspace changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateWorkspaceRequest {
    /// Its name.
    pub name: Option<String>,
    /// What may be done in it.
    pub capabilities: Option<Vec<String>>,
    /// Its limits.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub quota_id: Change<String>,
    /// Replaces the metadata.
    pub metadata: Option<JsonObject>,
}

impl CreateWorkspaceRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            name: object.require_text("name")?,
            root: object.require_text("root")?,
            image: object.take_nonblank("image")?,
            packages: object.take_texts("packages")?,
            network_policy: object.take_map("network_policy")?.unwrap_or_default(),
            sandbox_backend: object.take_nonblank("sandbox_backend")?,
            metadata: object.take_metadata()?,
        })
    }
}

impl UpdateWorkspaceRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            name: object.take_nonblank("name")?,
            capabilities: object.take_texts_change("capabilities")?,
            quota_id: object.take_change("quota_id")?,
            metadata: object.take_map("metadata")?,
        })
    }
}
