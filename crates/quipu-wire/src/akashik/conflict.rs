//! A conflict between two units, and how it was resolved.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What two units disagree about.
    ConflictType {
        /// Opposing objective claims.
        Factual = "factual",
        /// The same evidence, read differently.
        Interpretive = "interpretive",
        /// Incompatible recommendations.
        Strategic = "strategic",
        /// Different urgency for the same goal.
        Priority = "priority",
    }
}

words! {
    /// Where a conflict stands.
    ConflictStatus {
        /// Found, nobody works on it.
        Detected = "detected",
        /// A strategy is being applied.
        Resolving = "resolving",
        /// Settled. Final.
        Resolved = "resolved",
        /// Waits for a human.
        Escalated = "escalated",
    }
}

words! {
    /// How a conflict was found.
    DetectedBy {
        /// A unit says so itself, with `contradicts`.
        Explicit = "explicit",
        /// Close in meaning, opposite in claim.
        Semantic = "semantic",
        /// An assumption of one clashes with the other.
        Logical = "logical",
        /// A late arrival opposes an older, surer unit.
        Temporal = "temporal",
    }
}

words! {
    /// How a conflict is settled.
    ConflictStrategy {
        /// The newest unit prevails.
        LastWriteWins = "last_write_wins",
        /// The surer unit prevails.
        ConfidenceWeighted = "confidence_weighted",
        /// A named authority decides.
        Authority = "authority",
        /// The better supported unit prevails.
        EvidenceCount = "evidence_count",
        /// A new unit replaces both.
        Synthesis = "synthesis",
        /// A human decides.
        HumanEscalation = "human_escalation",
        /// A majority decides.
        Vote = "vote",
    }
}

/// A conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conflict {
    /// Assigned by the Field.
    pub id: String,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: ConflictType,
    /// Where it stands.
    pub status: ConflictStatus,
    /// The older unit.
    pub unit_a: String,
    /// The newer unit.
    pub unit_b: String,
    /// What disagrees with what, in words.
    pub description: String,
    /// How it was found.
    pub detected_by: DetectedBy,
    /// How it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// How a conflict was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Resolution {
    /// By which strategy.
    pub strategy: ConflictStrategy,
    /// The unit that prevails; null for a synthesis.
    pub winner_id: Option<String>,
    /// The reason for this resolution.
    pub rationale: String,
    /// By whom.
    pub resolved_by: String,
    /// The epoch in which it was resolved.
    pub epoch_resolved: u64,
}

/// The answer of `GET /v1/conflicts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConflictList {
    /// The unresolved conflicts, oldest first.
    pub conflicts: Vec<Conflict>,
    /// Ours: whether there are more behind these. A page ends where it has 8 MiB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// Ours: what to send as `cursor` for those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
