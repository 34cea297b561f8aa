//! Retracting a unit (`POST /v1/retract`). Ours: the protocol has a status for it and no operation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{UnitStatus, restore::take_purpose};
use crate::json::reader::{ObjectReader, ReadError};

/// Which unit is withdrawn, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetractPayload {
    /// The unit.
    pub unit_id: String,
    /// Why it is withdrawn.
    pub intent: RetractIntent,
}

/// Why a unit is withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetractIntent {
    /// The reason.
    pub purpose: String,
}

/// The answer to a retraction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetractResponse {
    /// `ok`.
    pub status: String,
    /// The unit.
    pub unit_id: String,
    /// What it was before.
    pub was: UnitStatus,
    /// The units that it had replaced and that came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored_units: Vec<String>,
    /// When it was withdrawn.
    pub epoch: u64,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RetractPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let (intent, mut warnings) = take_purpose(&mut object)?;
        let unit_id = object.require_id("unit_id")?;
        warnings.extend(object.warnings());
        Ok((Self { unit_id, intent }, warnings))
    }
}
