//! Persona: the policy under which agents work on a Task, and the requests that make or change one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AutonomyTier, Change, JsonObject, ResourceEnvelope, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of this resource.
    PersonaObject {
        /// Always this one.
        Persona = "persona",
    }
}

words! {
    /// Whether the Tasks of a Persona have receipts.
    ReceiptPolicy {
        /// Always.
        Required = "required",
        /// Where they can be issued.
        Optional = "optional",
        /// Never.
        Disabled = "disabled",
    }
}

/// A Persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Persona {
    /// Always `persona`.
    pub object: PersonaObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its work begins.
    pub entry_workflow: String,
    /// What it is for.
    pub description: String,
    /// How much it may do by itself.
    pub autonomy_tier: AutonomyTier,
    /// Whether its Tasks have receipts.
    pub receipt_policy: ReceiptPolicy,
    /// The tools that it may use.
    #[serde(default)]
    pub tools: Vec<String>,
    /// What it may do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What starts it.
    #[serde(default)]
    pub triggers: Vec<JsonObject>,
    /// When it starts.
    #[serde(default)]
    pub schedules: Vec<JsonObject>,
    /// To whom it may hand over.
    #[serde(default)]
    pub handoffs: Vec<String>,
    /// What it is told first.
    #[serde(default)]
    pub context_packs: Vec<String>,
    /// How it is judged.
    #[serde(default)]
    pub evals: Vec<String>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// Which models it may use.
    #[serde(default)]
    pub model_policy: JsonObject,
    /// How a new version comes into use.
    #[serde(default)]
    pub rollout_policy: JsonObject,
    /// Its limits.
    pub quota_id: Option<String>,
}

/// The body of `POST /v1/personas`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreatePersonaRequest {
    /// The module that defines it, as `harn://owner/name@version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_ref: Option<String>,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its work begins.
    pub entry_workflow: String,
    /// What it is for.
    pub description: String,
    /// How much it may do by itself.
    pub autonomy_tier: AutonomyTier,
    /// Whether its Tasks have receipts.
    pub receipt_policy: ReceiptPolicy,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

/// What a PATCH of a Persona changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdatePersonaRequest {
    /// What it is for.
    pub description: Option<String>,
    /// Whether its Tasks have receipts.
    pub receipt_policy: Option<ReceiptPolicy>,
    /// Its limits.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub quota_id: Change<String>,
    /// Replaces the metadata.
    pub metadata: Option<JsonObject>,
}

impl CreatePersonaRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let module_ref = object.take_nonblank("module_ref")?;
        if module_ref.as_deref().is_some_and(|text| !is_module_ref(text)) {
            return Err(
                object.refuse("module_ref", "must be of the form harn://owner/name@version")
            );
        }
        Ok(Self {
            module_ref,
            name: object.require_text("name")?,
            version: object.require_text("version")?,
            entry_workflow: object.require_text("entry_workflow")?,
            description: object.require_text("description")?,
            autonomy_tier: object.require_word(
                "autonomy_tier",
                AutonomyTier::WORDS,
                AutonomyTier::parse,
            )?,
            receipt_policy: object.require_word(
                "receipt_policy",
                ReceiptPolicy::WORDS,
                ReceiptPolicy::parse,
            )?,
            metadata: object.take_metadata()?,
        })
    }
}

impl UpdatePersonaRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            description: object.take_nonblank("description")?,
            receipt_policy: object.take_word(
                "receipt_policy",
                ReceiptPolicy::WORDS,
                ReceiptPolicy::parse,
            )?,
            quota_id: object.take_change("quota_id")?,
            metadata: object.take_map("metadata")?,
        })
    }
}

fn is_module_ref(text: &str) -> bool {
    let parts = text.strip_prefix("harn://").and_then(|rest| rest.split_once('@')).and_then(
        |(path, version)| path.split_once('/').map(|(owner, name)| [owner, name, version]),
    );
    parts.is_some_and(|parts| parts.iter().all(|part| !part.is_empty()))
}
