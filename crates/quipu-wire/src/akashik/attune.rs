//! ATTUNE: ranked, scoped context without a query (`POST /v1/attune`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conflict, MemoryUnit, Scope};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::TEXT_BYTES_MAX,
    words::words,
};

words! {
    /// How much of each unit to return.
    Format {
        /// All of it.
        Full = "full",
        /// An extract in its own words.
        Summary = "summary",
        /// Its id.
        IdsOnly = "ids_only",
    }
}

#[expect(clippy::derivable_impls, reason = "the list of words makes the enum")]
impl Default for Format {
    fn default() -> Self {
        Self::Full
    }
}

/// What an agent says when it asks for context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttunePayload {
    /// Who asks, and how much it can take.
    pub scope: Scope,
    /// What the agent is about to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_hint: Option<String>,
    /// How much of each unit to return; all of it if absent.
    #[serde(default)]
    pub format: Format,
    /// Only units committed at or after this epoch; the larger of this one and the scope's holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_epoch: Option<u64>,
}

/// A unit, or as much of it as was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum UnitView {
    /// The unit, whole or with an extract for its content.
    Unit(Box<MemoryUnit>),
    /// Its id alone.
    Id {
        /// The unit's id.
        id: String,
    },
}

impl UnitView {
    /// The unit's id, however much else is there.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Unit(unit) => &unit.id,
            Self::Id { id } => id,
        }
    }
}

/// A unit with its rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScopedMemoryUnit {
    /// The unit; under `ids_only` its id alone.
    pub memory_unit: UnitView,
    /// From 0.0 to 1.0.
    pub relevance_score: f64,
    /// Why, in words.
    pub relevance_reason: String,
    /// Whether the unit is whole. Absent under `ids_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Ours: every factor of the score, when the scope asks to `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl ScopedMemoryUnit {
    /// The text of a list of these as it is sent, which is what a budget counts.
    #[must_use]
    pub fn sent_text(record: &[Self]) -> String {
        // Texts and numbers always have a JSON form.
        serde_json::to_string(record).unwrap_or_default()
    }
}

/// How a score came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The factors, the most telling first.
    pub factors: Vec<FactorExplanation>,
    /// The share that was taken off because the same author stands above already.
    pub diversity_discount: f64,
}

/// One factor of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FactorExplanation {
    /// The factor's name.
    pub factor: String,
    /// Its value, 0.0 to 1.0.
    pub value: f64,
    /// Its weight in this request.
    pub weight: f64,
    /// What it added to the score.
    pub contribution: f64,
}

/// What was returned of what there was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContextBudget {
    /// The units in this answer.
    pub units_returned: usize,
    /// The units that passed the scope's filters.
    pub units_available: usize,
    /// The tokens of `record` as it is sent, when there was a budget.
    pub tokens_used: Option<usize>,
    /// The budget.
    pub tokens_budget: Option<usize>,
}

/// The answer to ATTUNE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttuneResponse {
    /// `ok`.
    pub status: String,
    /// The units, best first.
    pub record: Vec<ScopedMemoryUnit>,
    /// The unresolved conflicts between units that the caller may see.
    pub conflicts: Vec<Conflict>,
    /// What was returned of what there was.
    pub context_budget: ContextBudget,
    /// The Field's logical time; send it back as `since_epoch` to poll.
    pub epoch: u64,
    /// Ours: the epoch of the last commit that was looked at, when the scope asks for an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_epoch: Option<u64>,
    /// Ours: where it is traced, the id under which the log notes what was returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl AttunePayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let scope = object
            .take_object("scope")?
            .ok_or_else(|| object.refuse("scope", "is required, with role and max_units"))?;
        let (scope, mut warnings) = Scope::read(scope)?;
        let context_hint = object
            .take_text("context_hint", TEXT_BYTES_MAX)?
            .filter(|hint| !hint.trim().is_empty());
        let format = object.take_word("format", Format::WORDS, Format::parse)?.unwrap_or_default();
        let since_epoch = object.take_integer("since_epoch")?;
        warnings.extend(object.warnings());
        Ok((Self { scope, context_hint, format, since_epoch }, warnings))
    }

    /// The epoch from which units count: the larger of the two places where it can be given.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.since_epoch.max(self.scope.since_epoch).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_role_and_the_number_of_units_are_required() {
        let problem = |payload| AttunePayload::parse(payload).unwrap_err().to_string();
        assert!(problem(json!({})).starts_with("payload.scope: is required"));
        assert!(problem(json!({"scope": {"max_units": 3}})).starts_with("payload.scope.role"));
        assert!(problem(json!({"scope": {"role": "r"}})).starts_with("payload.scope.max_units"));
        let zero = json!({"scope": {"role": "r", "max_units": 0}});
        assert_eq!(problem(zero), "payload.scope.max_units: must be at least 1, got 0");
    }

    #[test]
    fn the_larger_of_both_watermarks_holds() {
        let payload =
            json!({"scope": {"role": "r", "max_units": 1, "since_epoch": 4}, "since_epoch": 9});
        assert_eq!(AttunePayload::parse(payload).unwrap().0.since(), 9);
    }
}
