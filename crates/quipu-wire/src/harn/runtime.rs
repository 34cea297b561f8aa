//! What the later version of the protocol adds about the server itself: health, version, runtime, capabilities.

use serde::{Deserialize, Serialize};

use super::HarnVersion;
use crate::words::words;

words! {
    /// The word in `object` of these answers.
    RuntimeObject {
        /// Of `GET /version`.
        Version = "version",
        /// Of `GET /v1/runtime`.
        Runtime = "runtime",
        /// Of `GET /v1/capabilities`.
        CapabilitySummary = "capability_summary",
    }
}

/// The answer to `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Whether it works.
    pub ok: bool,
    /// In a word.
    pub status: String,
    /// The version of the server.
    pub version: String,
}

/// The answer to `GET /version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerVersion {
    /// Always `version`.
    pub object: RuntimeObject,
    /// The version of the server.
    pub version: String,
    /// The version that the caller named, or the default.
    pub protocol_version: HarnVersion,
}

/// Something that the server can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capability {
    /// Its name.
    pub id: String,
    /// In words.
    pub description: String,
}

/// The answer to `GET /v1/runtime`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Runtime {
    /// Always `runtime`.
    pub object: RuntimeObject,
    /// The version of the server.
    pub version: String,
    /// The version that the caller named, or the default.
    pub protocol_version: HarnVersion,
    /// What speaks this protocol here.
    pub adapter: String,
    /// Where Workspaces are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// How many Sessions there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_count: Option<u64>,
    /// How many Tasks there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_count: Option<u64>,
    /// What the server can do.
    #[serde(default)]
    pub capabilities: Vec<Capability>,
}

/// The answer to `GET /v1/capabilities`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CapabilitySummary {
    /// Always `capability_summary`.
    pub object: RuntimeObject,
    /// What the server can do.
    pub capabilities: Vec<Capability>,
}
