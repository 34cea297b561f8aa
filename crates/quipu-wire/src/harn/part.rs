//! The parts of a Message, each with who may see it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, Visibility};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// How a tool call ended.
    ToolResultStatus {
        /// Well.
        Ok = "ok",
        /// Badly.
        Error = "error",
    }
}

/// A part of a Message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Who may see it.
        visibility: Visibility,
    },
    /// Any JSON.
    Json {
        /// The value.
        value: Value,
        /// Who may see it.
        visibility: Visibility,
    },
    /// A call of a tool.
    ToolCall {
        /// Pairs the call with its result.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// What it is given.
        input: JsonObject,
        /// Who may see it.
        visibility: Visibility,
    },
    /// What a tool answered.
    ToolResult {
        /// The call.
        tool_call_id: String,
        /// The answer.
        output: Value,
        /// How it ended.
        status: ToolResultStatus,
        /// Who may see it.
        visibility: Visibility,
    },
    /// An Artifact.
    ArtifactRef {
        /// The id of the artifact.
        artifact_id: String,
        /// Who may see it.
        visibility: Visibility,
    },
    /// A file somewhere.
    FileRef {
        /// The address of the file.
        uri: String,
        /// Of what kind.
        mime_type: String,
        /// Who may see it.
        visibility: Visibility,
    },
    /// An image that is an Artifact.
    ImageRef {
        /// The id of the artifact.
        artifact_id: String,
        /// Of what kind.
        mime_type: String,
        /// Who may see it.
        visibility: Visibility,
    },
}

words! {
    /// The word in `type` of a part.
    PartType {
        /// Text.
        Text = "text",
        /// Any JSON.
        Json = "json",
        /// A call of a tool.
        ToolCall = "tool_call",
        /// What a tool answered.
        ToolResult = "tool_result",
        /// An Artifact.
        ArtifactRef = "artifact_ref",
        /// A file somewhere.
        FileRef = "file_ref",
        /// An image that is an Artifact.
        ImageRef = "image_ref",
    }
}

impl Part {
    /// A text that everybody may see.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), visibility: Visibility::Public }
    }

    #[must_use]
    pub const fn visibility(&self) -> Visibility {
        match self {
            Self::Text { visibility, .. }
            | Self::Json { visibility, .. }
            | Self::ToolCall { visibility, .. }
            | Self::ToolResult { visibility, .. }
            | Self::ArtifactRef { visibility, .. }
            | Self::FileRef { visibility, .. }
            | Self::ImageRef { visibility, .. } => *visibility,
        }
    }

    /// Reads a part. A part without `visibility` is public, as published clients send it.
    pub(super) fn read(mut object: ObjectReader) -> Result<Self, ReadError> {
        let kind = object.require_word("type", PartType::WORDS, PartType::parse)?;
        let visibility = object
            .take_word("visibility", Visibility::WORDS, Visibility::parse)?
            .unwrap_or(Visibility::Public);
        Ok(match kind {
            PartType::Text => Self::Text { text: object.require_content("text")?, visibility },
            PartType::Json => Self::Json { value: object.require_value("value")?, visibility },
            PartType::ToolCall => Self::ToolCall {
                tool_call_id: object.require_id("tool_call_id")?,
                name: object.require_id("name")?,
                input: object.require_map("input")?,
                visibility,
            },
            PartType::ToolResult => Self::ToolResult {
                tool_call_id: object.require_id("tool_call_id")?,
                output: object.require_value("output")?,
                status: object.require_word(
                    "status",
                    ToolResultStatus::WORDS,
                    ToolResultStatus::parse,
                )?,
                visibility,
            },
            PartType::ArtifactRef => {
                Self::ArtifactRef { artifact_id: object.require_id("artifact_id")?, visibility }
            }
            PartType::FileRef => Self::FileRef {
                uri: object.require_text("uri")?,
                mime_type: object.require_text("mime_type")?,
                visibility,
            },
            PartType::ImageRef => Self::ImageRef {
                artifact_id: object.require_id("artifact_id")?,
                mime_type: object.require_text("mime_type")?,
                visibility,
            },
        })
    }
}
