//! Quota: a limit and how much of it is used. Read-only over this protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ResourceEnvelope;
use crate::akashik::words::words;

words! {
    /// The word in `object` of this resource.
    QuotaObject {
        /// Always this one.
        Quota = "quota",
    }
}

words! {
    /// Whom a Quota limits.
    QuotaScope {
        /// One Persona.
        Persona = "persona",
        /// One Workspace.
        Workspace = "workspace",
        /// One tenant.
        Tenant = "tenant",
        /// An organization.
        Organization = "organization",
    }
}

/// A Quota.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quota {
    /// Always `quota`.
    pub object: QuotaObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// Whom it limits.
    pub scope: QuotaScope,
    /// The limits, by what they limit.
    pub limits: BTreeMap<String, f64>,
    /// How much of each is used.
    pub usage: BTreeMap<String, f64>,
    /// When the counting starts anew.
    pub reset_at: Option<String>,
    /// Whether work is refused beyond it.
    #[serde(default)]
    pub hard_limit: bool,
    /// Whether work beyond it is only told of.
    #[serde(default)]
    pub soft_limit: bool,
    /// What is used up.
    pub exhaustion_reason: Option<String>,
    /// The Receipt that last used some of it.
    pub last_receipt_id: Option<String>,
}
