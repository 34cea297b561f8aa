//! Quota: a limit and how much of it is used. Read-only in the protocol; that it can be set is ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, JsonObject, ResourceEnvelope, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

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

words! {
    /// What is counted.
    QuotaUnit {
        /// Tasks that were submitted.
        Tasks = "tasks",
        /// Answers of models that were recorded.
        LlmCalls = "llm_calls",
        /// Answers of tools that were recorded.
        ToolCalls = "tool_calls",
    }
}

/// The body of `POST /v1/quotas` (Quipu's extension).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateQuotaRequest {
    /// Whom it limits. One of a Persona or a Workspace holds for those that name it as `quota_id`; the others
    /// hold for everything here.
    pub scope: QuotaScope,
    /// The limits, by what they limit.
    pub limits: BTreeMap<QuotaUnit, u64>,
    /// Whether work is refused beyond it; true if absent.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub hard_limit: bool,
    /// How long a span of counting is; it never starts anew if absent.
    pub period_ms: Option<u64>,
    /// The client's own members.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
}

/// The body of `PATCH /v1/quotas/{quota_id}` (Quipu's extension).
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateQuotaRequest {
    /// Replaces the limits.
    pub limits: Option<BTreeMap<QuotaUnit, u64>>,
    /// Whether work is refused beyond it.
    pub hard_limit: Option<bool>,
    /// How long a span of counting is.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>))]
    pub period_ms: Change<u64>,
    /// Replaces the metadata.
    pub metadata: Option<JsonObject>,
}

impl CreateQuotaRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let limits = read_limits(&mut object)?;
        Ok(Self {
            scope: object.require_word("scope", QuotaScope::WORDS, QuotaScope::parse)?,
            limits: limits.ok_or_else(|| object.refuse("limits", "is required"))?,
            hard_limit: object.take_bool("hard_limit")?.unwrap_or(true),
            period_ms: read_period(&mut object)?,
            metadata: object.take_metadata()?,
        })
    }
}

impl UpdateQuotaRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let names_period = object.has("period_ms");
        Ok(Self {
            limits: read_limits(&mut object)?,
            hard_limit: object.take_bool("hard_limit")?,
            period_ms: match (names_period, read_period(&mut object)?) {
                (false, _) => Change::Keep,
                (true, None) => Change::Clear,
                (true, Some(period)) => Change::Set(period),
            },
            metadata: object.take_map("metadata")?,
        })
    }
}

fn read_limits(object: &mut ObjectReader) -> Result<Option<BTreeMap<QuotaUnit, u64>>, ReadError> {
    let Some(mut limits) = object.take_object("limits")? else { return Ok(None) };
    let mut read = BTreeMap::new();
    for unit in QuotaUnit::ALL {
        if let Some(limit) = limits.take_integer(unit.as_str())? {
            read.insert(*unit, limit);
        }
    }
    // A limit that nobody would check must not look like one.
    if !limits.leftovers().is_empty() {
        let problem = format!("has one that is not counted here: only {}", QuotaUnit::WORDS);
        return Err(object.refuse("limits", problem));
    }
    Ok(Some(read))
}

fn read_period(object: &mut ObjectReader) -> Result<Option<u64>, ReadError> {
    let period = object.take_integer("period_ms")?;
    if period == Some(0) {
        return Err(object.refuse("period_ms", "must be at least 1"));
    }
    Ok(period)
}
