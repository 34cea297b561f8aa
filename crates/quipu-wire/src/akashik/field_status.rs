//! The overview of a Field (`GET /v1/field/status`). The protocol names the route and no shape; this
//! one is ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FieldCapabilities;

/// A Field at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldStatus {
    /// The Field's name.
    pub field: String,
    /// Its logical time.
    pub epoch: u64,
    /// The number of commits in its log.
    pub position: u64,
    /// The hash of the last commit, which stands for the whole log before it.
    pub head: String,
    /// Registered agents.
    pub agents: u64,
    /// Units by status.
    pub units: Counts,
    /// Conflicts by status.
    pub conflicts: Counts,
    /// What the Field can do.
    pub field_capabilities: FieldCapabilities,
}

/// A total and its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counts {
    /// All of them.
    pub total: u64,
    /// How many of each status.
    pub by_status: BTreeMap<String, u64>,
}
