//! Connector: a way in for what happens elsewhere. Read-only over this protocol.

use serde::{Deserialize, Serialize};

use super::{JsonObject, ResourceEnvelope};
use crate::akashik::words::words;

words! {
    /// The word in `object` of this resource.
    ConnectorObject {
        /// Always this one.
        Connector = "connector",
    }
}

words! {
    /// Whether a Connector takes deliveries.
    ConnectorStatus {
        /// It does.
        Active = "ACTIVE",
        /// Not now.
        Paused = "PAUSED",
        /// It is broken.
        Failed = "FAILED",
        /// Not any more.
        Disabled = "DISABLED",
    }
}

/// A Connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Connector {
    /// Always `connector`.
    pub object: ConnectorObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// What it connects to.
    pub provider: String,
    /// The Workspace that it feeds.
    pub workspace_id: String,
    /// Whether it takes deliveries.
    pub status: ConnectorStatus,
    /// What it tells of.
    pub event_kinds: Vec<String>,
    /// How it knows the same delivery again.
    #[serde(default)]
    pub dedupe_policy: JsonObject,
    /// How deliveries prove themselves, without the secret.
    #[serde(default)]
    pub auth: JsonObject,
    /// Where deliveries go.
    #[serde(default)]
    pub webhook: JsonObject,
    /// How it asks by itself.
    #[serde(default)]
    pub polling: JsonObject,
    /// The Persona of the Tasks that it makes.
    pub target_persona_id: Option<String>,
    /// The Session of the Tasks that it makes.
    pub target_session_id: Option<String>,
}
