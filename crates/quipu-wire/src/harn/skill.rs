//! Skill: something that agents here can do. Read-only over this protocol.

use serde::{Deserialize, Serialize};

use super::{JsonObject, ResourceEnvelope};
use crate::words::words;

words! {
    /// The word in `object` of this resource.
    SkillObject {
        /// Always this one.
        Skill = "skill",
    }
}

/// A Skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Skill {
    /// Always `skill`.
    pub object: SkillObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub input_schema: Option<JsonObject>,
    /// What it gives.
    pub output_schema: Option<JsonObject>,
    /// Where it is defined.
    pub source: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it needs.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Whether somebody must agree to each use.
    #[serde(default)]
    pub requires_approval: bool,
    /// Whether it should no longer be used.
    #[serde(default)]
    pub deprecated: bool,
}
