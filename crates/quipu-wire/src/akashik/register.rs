//! REGISTER: how an agent joins a Field (`POST /v1/register`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Agent, FieldCapabilities};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::AUTHORITY_MAX,
    words::words,
};

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterPayload {
    /// The name it wants.
    pub id: String,
    /// What it does in the team.
    pub role: String,
    /// Topics it wants to hear of.
    #[serde(default)]
    pub interests: Vec<String>,
    /// Operations without which it cannot work here.
    #[serde(default)]
    pub required_operations: Vec<String>,
    /// Ours: the authority it asks for, never above its credential's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority_level: Option<u8>,
}

words! {
    /// Whether the agent joined.
    RegisterStatus {
        /// It did.
        Registered = "registered",
        /// It did not.
        Rejected = "rejected",
    }
}

/// The answer to REGISTER.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisterResponse {
    /// Whether the agent joined.
    pub status: RegisterStatus,
    /// The agent as the Field keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// What the Field can do.
    pub field_capabilities: FieldCapabilities,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection_reason: Option<String>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RegisterPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let id = object.require_id("id")?;
        if id == "system" {
            return Err(object.refuse("id", "`system` is the Field's own name"));
        }
        let role = object.require_id("role")?;
        let interests = object.take_texts("interests")?;
        let required_operations = object.take_texts("required_operations")?;
        let authority_level = match object.take_integer("authority_level")? {
            None => None,
            Some(level) => match u8::try_from(level) {
                Ok(level) if level <= AUTHORITY_MAX => Some(level),
                _ => return Err(object.refuse("authority_level", "must be from 0 to 10")),
            },
        };
        let payload = Self { id, role, interests, required_operations, authority_level };
        Ok((payload, object.warnings()))
    }
}
