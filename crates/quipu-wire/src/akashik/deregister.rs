//! DEREGISTER: how an agent leaves a Field (`POST /v1/deregister`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

/// Who is to leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeregisterPayload {
    /// The agent that leaves.
    pub agent_id: String,
}

words! {
    /// Whether there was such an agent.
    DeregisterStatus {
        /// It left.
        Ok = "ok",
        /// Nobody of that name was registered.
        NotFound = "not_found",
    }
}

/// What an agent leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cleanup {
    /// Its units. They stay, and stay visible.
    pub units_orphaned: u64,
    /// Its tasks that wait for another agent.
    pub tasks_reassigned: u64,
}

/// The answer to DEREGISTER.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeregisterResponse {
    /// Whether there was such an agent.
    pub status: DeregisterStatus,
    /// What it left behind.
    pub cleanup: Cleanup,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl DeregisterPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let agent_id = object.require_id("agent_id")?;
        Ok((Self { agent_id }, object.warnings()))
    }
}
