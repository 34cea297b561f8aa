//! The memory unit and its parts.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How much ceremony a unit was recorded with.
    Mode {
        /// A note that may still be improved.
        Draft = "draft",
        /// Immutable knowledge.
        Committed = "committed",
    }
}

words! {
    /// What kind of knowledge a unit is.
    MemoryType {
        /// A discovered fact.
        Finding = "finding",
        /// A choice made by an agent or a human.
        Decision = "decision",
        /// A subjective reading.
        Observation = "observation",
        /// A declared plan.
        Intention = "intention",
        /// An unverified premise.
        Assumption = "assumption",
        /// A limitation.
        Constraint = "constraint",
        /// An open question.
        Question = "question",
        /// A flag that two units clash.
        Contradiction = "contradiction",
        /// A conclusion combined from several units.
        Synthesis = "synthesis",
        /// A correction of an earlier unit.
        Correction = "correction",
        /// The word of a human operator.
        HumanDirective = "human_directive",
    }
}

words! {
    /// Where a unit stands now.
    UnitStatus {
        /// Committed and current.
        Active = "active",
        /// Recorded as a draft.
        Draft = "draft",
        /// Replaced by another unit.
        Superseded = "superseded",
        /// Withdrawn.
        Retracted = "retracted",
        /// Part of an unresolved conflict.
        Contested = "contested",
        /// Committed, but not yet understood by the index.
        PendingEnrichment = "pending_enrichment",
    }
}

words! {
    /// How a unit relates to the unit it points at.
    RelationType {
        /// Gives evidence for the target.
        Supports = "supports",
        /// Conflicts with the target.
        Contradicts = "contradicts",
        /// Assumes that the target is true.
        DependsOn = "depends_on",
        /// Replaces the target.
        Supersedes = "supersedes",
        /// Exists because of the target.
        CausedBy = "caused_by",
        /// Adds detail to the target.
        Elaborates = "elaborates",
        /// Answers the target.
        Answers = "answers",
        /// Prevents progress on the target.
        Blocks = "blocks",
        /// Gives context for the target.
        Informs = "informs",
    }
}

impl Default for Mode {
    /// What is meant where no mode is said: the protocol's own example leaves it out with a confidence.
    fn default() -> Self {
        Self::Committed
    }
}

/// Why a unit exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Intent {
    /// What the author wanted to achieve.
    pub purpose: String,
    /// The task it served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The question it tries to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// How sure the author is, and on what grounds. Drafts may leave out any part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Confidence {
    /// From 0.0 to 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why this score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What speaks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What it takes for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// Who recorded a unit, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Source {
    /// The author.
    pub agent_id: String,
    /// The author's registered role at that time.
    pub agent_role: String,
    /// The session it was recorded in.
    pub session_id: Option<String>,
    /// RFC 3339.
    pub timestamp: String,
}

/// A link from one unit to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Relation {
    /// What the link means.
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// The unit it points at.
    pub target_id: String,
    /// The link in the author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A piece of shared memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryUnit {
    /// Assigned by the Field.
    pub id: String,
    /// Draft or committed.
    pub mode: Mode,
    /// What kind of knowledge.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The knowledge.
    pub content: String,
    /// Why it exists.
    pub intent: Intent,
    /// How sure the author is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Assigned by the Field.
    pub source: Source,
    /// Links to other units.
    pub relations: Vec<Relation>,
    /// Assigned by the Field.
    pub status: UnitStatus,
    /// Whether COMPACT moved it out of sight (Quipu's extension; only present when it did).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The Field's logical time of the RECORD.
    pub epoch: u64,
}
