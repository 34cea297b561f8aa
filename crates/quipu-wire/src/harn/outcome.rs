//! Outcome: how a Task ended. Read-only over this protocol.

use serde::{Deserialize, Serialize};

use super::{Artifact, Failure, JsonObject, Message, ResourceEnvelope};
use crate::words::words;

words! {
    /// The word in `object` of this resource.
    OutcomeObject {
        /// Always this one.
        Outcome = "outcome",
    }
}

words! {
    /// How a Task ended, also in receipts.
    OutcomeStatus {
        /// Well.
        Succeeded = "SUCCEEDED",
        /// Badly.
        Failed = "FAILED",
        /// It was called off.
        Canceled = "CANCELED",
    }
}

/// An Outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Outcome {
    /// Always `outcome`.
    pub object: OutcomeObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Task.
    pub task_id: String,
    /// How it ended.
    pub status: OutcomeStatus,
    /// What came of it, in words.
    pub summary: String,
    /// What was said at the end.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// What was made.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// To whom it was handed over.
    #[serde(default)]
    pub handoffs: Vec<JsonObject>,
    /// The Receipt.
    pub receipt_id: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// What it cost.
    #[serde(default)]
    pub cost: JsonObject,
    /// What was counted.
    #[serde(default)]
    pub metrics: JsonObject,
}
