//! What a receipt is made from. Plain inputs: who issues it, who ran what where, what was spent. Identity and
//! trust are given and never discovered, so that two servers can be configured to say the same.

use quipu_wire::harn::{
    Approval, BudgetAmount, Cost, FinalArtifact, Identifiers, IssuerKind, JsonObject, Lifecycle,
    ModelRoute, Redaction, Sha256, SideEffects, Trust,
};

use super::materials::DependencyFact;
use crate::secrets::SecretHashing;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerFacts {
    pub id: String,
    pub kind: IssuerKind,
    pub name: Option<String>,
    /// The key that it signs with.
    pub public_key_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLogFact {
    pub id: String,
    pub uri: String,
    pub sha256: Sha256,
    /// Whether it binds the whole run, as [`EVENT_LOG_FORM`](super::EVENT_LOG_FORM) says.
    pub binds: bool,
}

/// What a Task and a replay have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    pub receipt_id: String,
    pub issuer: IssuerFacts,
    pub identifiers: Identifiers,
    pub trust: Trust,
    /// Which model was used; none if nothing is said.
    pub model_route: Option<ModelRoute>,
    pub event_log: Option<EventLogFact>,
    /// Of a replay, the log of its own events, where it binds them.
    pub own_log: Option<EventLogFact>,
    pub final_artifacts: Vec<FinalArtifact>,
    /// The receipt before, as the chain has it.
    pub previous_receipt_hash: Option<Sha256>,
    /// A root over receipts strictly before this one; left out unless somebody keeps such batches.
    pub merkle_root: Option<Sha256>,
    /// More, in the receipt's open member.
    pub metadata: JsonObject,
}

/// What the receipt of a finished Task is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFacts {
    /// What it shares with a replay.
    pub run: RunFacts,
    pub lifecycle: Lifecycle,
    pub approvals: Vec<Approval>,
    pub limit: Option<BudgetAmount>,
    /// How much was.
    pub consumed: BudgetAmount,
    /// Every answer that it consumed, in any order.
    pub dependencies: Vec<DependencyFact>,
    pub unavailable_reason: Option<String>,
    pub cost: Option<Cost>,
    pub side_effects: SideEffects,
    /// What is left out besides secrets.
    pub redactions: Vec<Redaction>,
}

/// What the receipt of a replay is made from, besides what the replay did.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayFacts {
    /// What it shares with a Task; `identifiers.task_id` is the replay Task.
    pub run: RunFacts,
    /// What may be said of substituted secrets.
    pub secrets: SecretHashing,
    /// Why the source failed, if it did: a replay that comes to the same end repeats it.
    pub source_failure: Option<JsonObject>,
}
