//! Tool: something that can be called here, with what it takes and gives. Read-only.

use serde::{Deserialize, Serialize};

use super::JsonObject;
use crate::words::words;

words! {
    /// The word in `object` of this resource.
    ToolObject {
        /// Always this one.
        Tool = "tool",
    }
}

/// A Tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tool {
    /// Its id.
    pub id: String,
    /// Always `tool`.
    pub object: ToolObject,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of what it takes; an empty one where that is anything.
    pub input_schema: JsonObject,
    /// The JSON Schema of what it gives; an empty one where that is anything.
    pub output_schema: JsonObject,
    /// Who offers it and how it is called. Ours.
    #[serde(default)]
    pub metadata: JsonObject,
}
