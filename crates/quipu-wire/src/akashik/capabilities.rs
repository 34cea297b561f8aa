//! What a Field can do, as REGISTER tells it.

use serde::{Deserialize, Serialize};

use super::{ConflictStrategy, Operation};
use crate::limits::PROTOCOL_VERSION;

/// What a Field can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldCapabilities {
    /// The conformance level, 0 to 3.
    pub conformance_level: u8,
    /// The operations that are carried out.
    pub supported_operations: Vec<Operation>,
    /// The version of the protocol.
    pub protocol_version: String,
    /// Whether memory survives a restart.
    pub persistence: bool,
    /// The strategies that MERGE knows.
    pub conflict_strategies: Vec<ConflictStrategy>,
}

impl FieldCapabilities {
    /// What this version can do. The level is the highest of which everything is there.
    #[must_use]
    pub fn current() -> Self {
        Self {
            conformance_level: 3,
            supported_operations: Operation::SUPPORTED.to_vec(),
            protocol_version: PROTOCOL_VERSION.to_owned(),
            persistence: true,
            conflict_strategies: ConflictStrategy::ALL.to_vec(),
        }
    }
}
