//! The parts of a receipt, closed like the receipt itself.

use serde::{Deserialize, Serialize};

use super::{AutonomyTier, JsonObject, OutcomeStatus, Sha256};
use crate::words::words;

words! {
    /// What an issuer is.
    IssuerKind {
        /// A server of this protocol.
        Harness = "harness",
        /// A host.
        Host = "host",
        /// An agent.
        Agent = "agent",
        /// A connector.
        Connector = "connector",
    }
}

/// Who vouches for a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// The id of the issuer.
    pub id: String,
    /// What it is.
    pub kind: IssuerKind,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The protocol that the receipt follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The key that it signs with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key_id: Option<String>,
}

/// Where it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Identifiers {
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The Persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_ref: Option<String>,
    /// The Workspace.
    pub workspace_ref: String,
    /// The Session.
    pub session_id: String,
    /// The Task.
    pub task_id: String,
    /// The Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<String>,
    /// The trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// When it happened and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// When it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When work began.
    pub started_at: String,
    /// When it ended.
    pub completed_at: String,
    /// How it ended.
    pub final_state: OutcomeStatus,
    /// Why it failed; null if it did not.
    pub failure: Option<JsonObject>,
}

words! {
    /// What was decided.
    ApprovalDecision {
        /// Yes.
        Approved = "approved",
        /// No.
        Denied = "denied",
        /// The question was withdrawn.
        Canceled = "canceled",
        /// Nobody answered.
        Timeout = "timeout",
    }
}

/// Somebody who was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Which question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Who answered.
    pub actor: String,
    /// What for.
    pub action: String,
    /// The answer.
    pub decision: ApprovalDecision,
    /// The time of the decision.
    pub decided_at: String,
    /// How many agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum_proof: Option<JsonObject>,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<Sha256>,
}

/// How much the agent was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// At the start.
    pub start_tier: AutonomyTier,
    /// At the end.
    pub end_tier: AutonomyTier,
    /// By which policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_ref: Option<String>,
}

/// An amount of everything that can be spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BudgetAmount {
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Calls of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_time_ms: Option<u64>,
}

/// How much might be spent and was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AutonomyBudget {
    /// How much might be; absent if there was no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<BudgetAmount>,
    /// How much was.
    pub consumed: BudgetAmount,
}

words! {
    /// Whether a replay gives the same again.
    Determinism {
        /// To the byte.
        ByteDeterministic = "byte_deterministic",
        /// As far as it can be.
        BestEffort = "best_effort",
        /// It cannot be replayed.
        Unavailable = "unavailable",
    }
}

words! {
    /// What a material is.
    MaterialKind {
        /// The answer of a model.
        LlmProviderResponse = "llm_provider_response",
        /// The answer of a tool of an MCP server.
        McpToolReturn = "mcp_tool_return",
        /// The events of the source.
        EventLog = "event_log",
        /// An Artifact.
        Artifact = "artifact",
        /// Something that the host said.
        HostFact = "host_fact",
    }
}

/// Something that a replay needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// What it is.
    pub kind: MaterialKind,
    /// The id of the material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// Of what type it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The bytes themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_base64: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

/// What a replay needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayInput {
    /// Whether a replay gives the same again.
    pub determinism: Determinism,
    /// All materials, the event log first.
    pub materials: Vec<Material>,
    /// Why it cannot be replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_reason: Option<String>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelRef {
    /// Whose.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// Which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it was or was not chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which model was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelRoute {
    /// The one that was.
    pub chosen_model: ModelRef,
    /// Those that were not.
    pub alternatives_considered: Vec<ModelRef>,
    /// The reason why this model was chosen.
    pub route_policy_reason: String,
}

/// What one provider cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProviderCost {
    /// Whose bill.
    pub provider: String,
    /// For which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much.
    pub amount: f64,
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

/// What it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// In which currency: three letters.
    pub currency: String,
    /// In all.
    pub total: f64,
    /// By provider.
    pub provider_breakdown: Vec<ProviderCost>,
}

words! {
    /// What was done to a file.
    FileOperation {
        /// It was made.
        Create = "create",
        /// It was changed.
        Modify = "modify",
        /// It was deleted.
        Delete = "delete",
        /// It was renamed.
        Rename = "rename",
    }
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FileWrite {
    /// The path of the file.
    pub path: String,
    /// What was done to the file.
    pub operation: FileOperation,
    /// Its digest before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<Sha256>,
    /// Its digest after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_sha256: Option<Sha256>,
}

/// A place that was spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkEgress {
    /// The host that was contacted.
    pub destination: String,
    /// What for.
    pub purpose: String,
    /// How much was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

words! {
    /// How a call of a tool ended.
    CallStatus {
        /// Well.
        Succeeded = "succeeded",
        /// Badly.
        Failed = "failed",
        /// It was called off.
        Canceled = "canceled",
    }
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReceiptToolCall {
    /// The name of the tool.
    pub tool: String,
    /// Which call.
    pub call_id: String,
    /// How it ended.
    pub status: CallStatus,
    /// What it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<Sha256>,
    /// What it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_hash: Option<Sha256>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

words! {
    /// How a handoff ended.
    ReceiptHandoffStatus {
        /// It was taken.
        Accepted = "accepted",
        /// It was refused.
        Rejected = "rejected",
        /// The other one failed.
        Failed = "failed",
        /// The other one completed it.
        Completed = "completed",
    }
}

/// Work that was handed to another agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReceiptHandoff {
    /// To whom.
    pub target_agent: String,
    /// Which Task.
    pub task_id: String,
    /// How it ended.
    pub status: ReceiptHandoffStatus,
    /// The receipt of the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<String>,
}

/// What was changed outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SideEffects {
    /// Files.
    pub fs_writes: Vec<FileWrite>,
    /// Places that were spoken to.
    pub network_egress: Vec<NetworkEgress>,
    /// Tools that were called.
    pub tool_calls: Vec<ReceiptToolCall>,
    /// Work that was handed over.
    pub a2a_handoffs: Vec<ReceiptHandoff>,
}

/// Something that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FinalArtifact {
    /// Which Artifact.
    pub artifact_id: String,
    /// What it is.
    pub kind: String,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}

words! {
    /// How a replay departed from its source.
    DeltaOperation {
        /// Something was put in where nothing was.
        Add = "add",
        /// Something stands for something else.
        Replace = "replace",
        /// Something was left out.
        Remove = "remove",
    }
}

/// One substitution of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Delta {
    /// The id of the substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_id: Option<String>,
    /// The kind of substitution.
    pub operation: DeltaOperation,
    /// What was substituted; materials are named by id, which is not RFC 6901.
    pub path: String,
    /// Under which key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub override_key: Option<String>,
    /// The event that recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// Its digest before; null if there was none.
    pub before_sha256: Option<Sha256>,
    /// Its digest after; null where even a hash would say too much.
    pub after_sha256: Option<Sha256>,
    /// Where the substitute is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// The reason for the substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a receipt is bound to the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The one before; null at the beginning.
    pub previous_receipt_hash: Option<Sha256>,
    /// Its own hash; absent only until it is sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_hash: Option<Sha256>,
    /// The root of a batch of receipts before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merkle_root: Option<Sha256>,
}

/// Something that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Redaction {
    /// The member that was taken out.
    pub field: String,
    /// The reason for taking it out.
    pub reason: String,
    /// The digest of what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_hash: Option<Sha256>,
}

/// A signature of the hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReceiptSignature {
    /// With which key.
    pub key_id: String,
    /// How it was made.
    pub algorithm: String,
    /// The signature, `base64:` and standard base64.
    pub signature: String,
    /// The time of the signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<String>,
}
