//! The receipt of the wire format `receipt-2026-04-25`. The schema is closed: a member that is not here does
//! not exist. Which optional members are written is part of the contract, because receipts are hashed.

use serde::{Deserialize, Serialize};

use super::{
    Approval, AutonomyBudget, Chain, Cost, Delta, FinalArtifact, Identifiers, Issuer, JsonObject,
    Lifecycle, ModelRoute, ReceiptSignature, Redaction, ReplayInput, SideEffects, Trust,
};
use crate::words::words;

/// The name of the wire format.
pub const RECEIPT_SCHEMA: &str = "receipt-2026-04-25";

words! {
    /// The word in `schema`.
    ReceiptSchema {
        /// Always this one.
        Receipt20260425 = "receipt-2026-04-25",
    }
}

words! {
    /// What a receipt is about.
    SubjectKind {
        /// A Task.
        Task = "task",
        /// An Outcome.
        Outcome = "outcome",
        /// An Event.
        Event = "event",
        /// An Artifact.
        Artifact = "artifact",
        /// An approval.
        Approval = "approval",
        /// A call of a tool.
        ToolCall = "tool_call",
        /// A replay.
        ReplaySegment = "replay_segment",
    }
}

/// What a receipt is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// What it is.
    pub object: SubjectKind,
    /// The id of the subject.
    pub id: String,
}

/// A receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Always `receipt-2026-04-25`.
    pub schema: ReceiptSchema,
    /// Its id.
    pub receipt_id: String,
    /// What it is about.
    pub subject: Subject,
    /// Who vouches.
    pub issuer: Issuer,
    /// The time at which it was issued.
    pub issued_at: String,
    /// Where it happened.
    pub identifiers: Identifiers,
    /// When it happened and how it ended.
    pub lifecycle: Lifecycle,
    /// Who agreed to what; absent if nobody was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// How much the agent was allowed.
    pub trust: Trust,
    /// How much was spent.
    pub autonomy_budget: AutonomyBudget,
    /// What a replay needs.
    pub replay_input: ReplayInput,
    /// Which model was used.
    pub model_route: ModelRoute,
    /// What it cost.
    pub cost: Cost,
    /// What it changed outside.
    pub side_effects: SideEffects,
    /// What came of it.
    pub final_artifacts: Vec<FinalArtifact>,
    /// How it is bound to the receipt before.
    pub chain: Chain,
    /// What a replay substituted; absent unless it is a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deltas: Option<Vec<Delta>>,
    /// What is left out.
    #[serde(default)]
    pub redactions: Vec<Redaction>,
    /// Who signed.
    #[serde(default)]
    pub signatures: Vec<ReceiptSignature>,
    /// The place for members that the format does not know.
    #[serde(default)]
    pub metadata: JsonObject,
}
