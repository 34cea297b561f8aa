//! The scope of an ATTUNE: who asks, and how much it can take.

use serde::{Deserialize, Serialize};

use crate::{
    json::reader::{ObjectReader, Problem, ReadError},
    limits::ATTUNE_UNITS_MAX,
    words::words,
};

words! {
    /// A coarse position in time, by what a unit speaks of.
    TemporalLayer {
        /// What is known.
        Past = "past",
        /// What is going on.
        Present = "present",
        /// What is planned.
        Future = "future",
    }
}

words! {
    /// How tokens are counted.
    Tokenizer {
        /// As newer OpenAI models do (`o200k_base`).
        O200k = "o200k",
        /// As the models before them did (`cl100k_base`).
        Cl100k = "cl100k",
    }
}

/// The scope of an ATTUNE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scope {
    /// The role to rank for.
    pub role: String,
    /// The most units to return.
    pub max_units: usize,
    /// Only units committed at or after this epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_epoch: Option<u64>,
    /// The most tokens to return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Ours: how `max_tokens` is counted; the Field's own way if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<Tokenizer>,
    /// Topics to favour, besides those the agent registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interests: Vec<String>,
    /// Favour units of this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_task_id: Option<String>,
    /// Only these layers; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temporal_layers: Vec<TemporalLayer>,
    /// Leave out units that score lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance_threshold: Option<f64>,
    /// 0 ignores recency, 1 lets it dominate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recency_weight: Option<f64>,
    /// Ours: also return the caller's own units.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_own: bool,
    /// Ours: also return archived units.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_archived: bool,
    /// Ours: leave drafts out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_drafts: bool,
    /// Ours: look at the Field as it was after this epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_epoch: Option<u64>,
    /// Ours: say how every factor contributed to each score.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Ours: a look on the agent's behalf that leaves no trace; takes a key of authority 8.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
}

impl Scope {
    /// A scope with nothing but what is required.
    #[must_use]
    pub fn new(role: impl Into<String>, max_units: usize) -> Self {
        Self {
            role: role.into(),
            max_units,
            since_epoch: None,
            max_tokens: None,
            tokenizer: None,
            interests: Vec::new(),
            active_task_id: None,
            temporal_layers: Vec::new(),
            relevance_threshold: None,
            recency_weight: None,
            include_own: false,
            include_archived: false,
            exclude_drafts: false,
            as_of_epoch: None,
            explain: false,
            preview: false,
        }
    }

    /// Reads a scope; unknown keys come back as warnings.
    pub(crate) fn read(mut object: ObjectReader) -> Result<(Self, Vec<String>), ReadError> {
        let mut scope = Self::new(object.require_id("role")?, read_max_units(&mut object)?);
        scope.since_epoch = object.take_integer("since_epoch")?;
        scope.max_tokens = read_positive(&mut object, "max_tokens")?;
        scope.tokenizer = object.take_word("tokenizer", Tokenizer::WORDS, Tokenizer::parse)?;
        scope.interests = object.take_texts("interests")?;
        scope.active_task_id = object.take_id("active_task_id")?;
        scope.temporal_layers = read_layers(&mut object)?;
        scope.relevance_threshold = object.take_fraction("relevance_threshold")?;
        scope.recency_weight = object.take_fraction("recency_weight")?;
        scope.include_own = object.take_bool("include_own")?.unwrap_or_default();
        scope.include_archived = object.take_bool("include_archived")?.unwrap_or_default();
        scope.exclude_drafts = object.take_bool("exclude_drafts")?.unwrap_or_default();
        scope.as_of_epoch = object.take_integer("as_of_epoch")?;
        scope.explain = object.take_bool("explain")?.unwrap_or_default();
        scope.preview = object.take_bool("preview")?.unwrap_or_default();
        Ok((scope, object.warnings()))
    }
}

fn read_positive(object: &mut ObjectReader, key: &str) -> Result<Option<usize>, ReadError> {
    match object.take_integer(key)? {
        None => Ok(None),
        Some(0) => Err(object.refuse(key, Problem::found("must be at least 1", 0))),
        Some(number) => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX))),
    }
}

fn read_max_units(object: &mut ObjectReader) -> Result<usize, ReadError> {
    let max_units = read_positive(object, "max_units")?;
    Ok(max_units.ok_or_else(|| object.refuse("max_units", "is required"))?.min(ATTUNE_UNITS_MAX))
}

fn read_layers(object: &mut ObjectReader) -> Result<Vec<TemporalLayer>, ReadError> {
    let entries_max = TemporalLayer::ALL.len();
    object.take_words("temporal_layers", entries_max, TemporalLayer::WORDS, TemporalLayer::parse)
}
