//! Discovery: which versions are spoken and what is implemented. Needs neither a key nor a version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::HarnVersion;
use crate::words::words;

words! {
    /// The word in `object` of discovery.
    DiscoveryObject {
        /// Always this one.
        ProtocolDiscovery = "protocol_discovery",
    }
}

words! {
    /// The family of protocols.
    ProtocolFamily {
        /// Always this one.
        HarnAgentsProtocol = "harn_agents_protocol",
    }
}

/// What is implemented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiscoveryCapabilities {
    /// Requests.
    #[serde(default)]
    pub rest: bool,
    /// Streams of events.
    #[serde(default)]
    pub sse: bool,
    /// Streams both ways.
    #[serde(default)]
    pub websocket: bool,
    /// Receipts.
    #[serde(default)]
    pub receipts: bool,
    /// Replay.
    #[serde(default)]
    pub replay: bool,
}

/// The answer to `GET /v1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Discovery {
    /// Always `protocol_discovery`.
    pub object: DiscoveryObject,
    /// Always `harn_agents_protocol`.
    pub protocol_family: ProtocolFamily,
    /// The version that the caller named, or the default.
    pub current_version: HarnVersion,
    /// All that are spoken.
    pub supported_versions: Vec<HarnVersion>,
    /// What is implemented.
    pub capabilities: DiscoveryCapabilities,
    /// The version of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where the schema is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// Where resources are, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, String>,
}
