//! Memory: something known, as this protocol shows a memory unit, and the request that makes one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, Part, ResourceEnvelope, Visibility, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::CONTENT_BYTES_MAX,
    words::words,
};

words! {
    /// The word in `object` of this resource.
    MemoryObject {
        /// Always this one.
        Memory = "memory",
    }
}

words! {
    /// For whom a Memory is.
    MemoryScope {
        /// Tasks of one Persona.
        Persona = "persona",
        /// One Session.
        Session = "session",
        /// One Workspace.
        Workspace = "workspace",
        /// All of a tenant.
        Tenant = "tenant",
    }
}

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MemoryContent {
    /// In words.
    Text(String),
    /// As a reference to an Artifact.
    Artifact(Part),
    /// As an object.
    Object(JsonObject),
}

/// A Memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Memory {
    /// Always `memory`.
    pub object: MemoryObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// For whom it is.
    pub scope: MemoryScope,
    /// Which of them.
    pub owner_id: String,
    /// What is known.
    pub content: MemoryContent,
    /// Where it comes from.
    pub provenance: JsonObject,
    /// When it may be forgotten.
    pub expires_at: Option<String>,
    /// Where its vector is.
    pub embedding_ref: Option<String>,
    /// Who may see it.
    pub visibility: Visibility,
    /// What is to be hidden of it.
    #[serde(default)]
    pub redaction_policy: JsonObject,
    /// How sure its author is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// The body of `POST /v1/memories`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateMemoryRequest {
    /// For whom it is.
    pub scope: MemoryScope,
    /// Which of them.
    pub owner_id: String,
    /// What is known.
    pub content: MemoryContent,
    /// Where it comes from.
    pub provenance: JsonObject,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

impl CreateMemoryRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            scope: object.require_word("scope", MemoryScope::WORDS, MemoryScope::parse)?,
            owner_id: object.require_id("owner_id")?,
            content: read_content(&mut object)?,
            provenance: object.require_map("provenance")?,
            metadata: object.take_metadata()?,
        })
    }
}

fn read_content(object: &mut ObjectReader) -> Result<MemoryContent, ReadError> {
    let path = object.path_of("content");
    match object.take("content") {
        None => Err(object.refuse("content", "is required")),
        Some(Value::String(text)) if text.len() > CONTENT_BYTES_MAX => {
            Err(object.refuse("content", format!("must be at most {CONTENT_BYTES_MAX} bytes")))
        }
        Some(Value::String(text)) => Ok(MemoryContent::Text(text)),
        Some(Value::Object(map)) if map.get("type").is_some_and(|kind| kind == "artifact_ref") => {
            let part = ObjectReader::new(&path, Value::Object(map))?;
            Part::read(part).map(MemoryContent::Artifact)
        }
        Some(Value::Object(map)) => Ok(MemoryContent::Object(JsonObject(map))),
        Some(_) => Err(object.refuse("content", "must be a text, an object or an artifact_ref")),
    }
}
