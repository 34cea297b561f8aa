//! Questions whether something may be done, what was answered, and what was decided without asking.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, PermissionClass, ResourceEnvelope, RuleScope, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of a question.
    PermissionRequestObject {
        /// Always this one.
        PermissionRequest = "permission_request",
    }
}

words! {
    /// Where a question stands.
    PermissionStatus {
        /// Nobody has answered.
        Pending = "pending",
        /// It may be done.
        Approved = "approved",
        /// It may not.
        Denied = "denied",
    }
}

words! {
    /// Through which way a question came.
    PermissionSource {
        /// An editor's agent.
        Acp = "acp",
        /// A worker that waits for a human.
        Hitl = "hitl",
    }
}

/// A question whether something may be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionRequest {
    /// Always `permission_request`.
    pub object: PermissionRequestObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Session.
    pub session_id: Option<String>,
    /// The Task that waits.
    pub task_id: Option<String>,
    /// Where it stands.
    pub status: PermissionStatus,
    /// Through which way it came.
    pub source: PermissionSource,
    /// What is to be done: `action`, `target`, `class`.
    pub action: Value,
    /// The question.
    pub request: Value,
    /// The answer.
    #[serde(default)]
    pub response: Value,
}

/// The body of `POST /v1/permission-requests/{request_id}/respond`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionResponseRequest {
    /// Whether it may be done. `outcome` says the same in a word.
    pub approved: bool,
    /// More than yes or no.
    pub answer: Option<Value>,
    /// Who decided, where it is not the caller.
    pub reviewer: Option<String>,
    /// The reason for the decision.
    pub reason: Option<String>,
    /// The client's own members.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
    /// Whether the answer holds from now on.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub remember: bool,
    /// Of a remembered answer, for whom it holds.
    pub scope: Option<RuleScope>,
    /// Of a remembered answer, until when.
    pub expires_at: Option<String>,
    /// Of a remembered answer, which actions.
    pub action_pattern: Option<String>,
    /// Of a remembered answer, which targets.
    pub target_pattern: Option<String>,
    /// Of a remembered answer, which class.
    pub class: Option<PermissionClass>,
}

const YES: [&str; 3] = ["approved", "approve", "selected"];
const NO: [&str; 3] = ["denied", "deny", "rejected"];

impl PermissionResponseRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let word = object.take_nonblank("outcome")?;
        let outcome = match word.as_deref() {
            None => None,
            Some(word) if YES.contains(&word) => Some(true),
            Some(word) if NO.contains(&word) => Some(false),
            Some(_) => return Err(object.refuse("outcome", "must be `approved` or `denied`")),
        };
        let approved = match (object.take_bool("approved")?, outcome) {
            (Some(said), Some(word)) if said != word => {
                return Err(object.refuse("outcome", "must not contradict approved"));
            }
            (Some(said), _) | (None, Some(said)) => said,
            (None, None) => return Err(object.refuse("approved", "is required")),
        };
        Ok(Self {
            approved,
            answer: object.take("answer"),
            reviewer: object.take_nonblank("reviewer")?,
            reason: object.take_nonblank("reason")?,
            metadata: object.take_metadata()?,
            remember: object.take_bool("remember")?.unwrap_or(false),
            scope: object.take_word("scope", RuleScope::WORDS, RuleScope::parse)?,
            expires_at: object.take_time("expires_at")?,
            action_pattern: object.take_nonblank("action_pattern")?,
            target_pattern: object.take_nonblank("target_pattern")?,
            class: object.take_word("class", PermissionClass::WORDS, PermissionClass::parse)?,
        })
    }
}

words! {
    /// How much can go wrong.
    PermissionRisk {
        /// Little.
        Low = "low",
        /// Something.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Everything.
        Critical = "critical",
    }
}

/// The body of `POST /v1/permissions/check`: may this be done?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionCheckRequest {
    /// The caller's own id of the question.
    #[serde(default)]
    pub id: Option<String>,
    /// The tenant.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// The Session in which it would be done.
    pub session_id: String,
    /// The Workspace; the Session's if absent.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// Who would do it.
    pub actor: String,
    /// Of which class it is.
    pub class: PermissionClass,
    /// What would be done.
    pub action: String,
    /// To what.
    pub target: String,
    /// How much can go wrong.
    #[serde(default)]
    pub risk: Option<PermissionRisk>,
    /// More for who decides.
    #[serde(default)]
    pub context: JsonObject,
    /// Why it should be done.
    #[serde(default)]
    pub reason: Option<String>,
    /// When it was asked.
    #[serde(default)]
    pub requested_at: Option<String>,
}

impl PermissionCheckRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            id: object.take_id("id")?,
            tenant_id: object.take_id("tenant_id")?,
            session_id: object.require_id("session_id")?,
            workspace_id: object.take_id("workspace_id")?,
            actor: object.require_id("actor")?,
            class: object.require_word("class", PermissionClass::WORDS, PermissionClass::parse)?,
            action: object.require_text("action")?,
            target: object.require_text("target")?,
            risk: object.take_word("risk", PermissionRisk::WORDS, PermissionRisk::parse)?,
            context: object.take_map("context")?.unwrap_or_default(),
            reason: object.take_nonblank("reason")?,
            requested_at: object.take_time("requested_at")?,
        })
    }
}

words! {
    /// The word in `object` of the answer to a check.
    PermissionDecisionObject {
        /// Always this one.
        PermissionDecision = "permission_decision",
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PermissionDecision {
    /// It may be done.
    Granted {
        /// For whom.
        scope: RuleScope,
        /// The policy that was asked.
        policy_version: String,
        /// The reason for the decision.
        reason: Option<String>,
        /// Until when.
        expires_at: Option<String>,
        /// The rule that says so.
        rule_id: Option<String>,
    },
    /// It may not.
    Denied {
        /// For whom.
        scope: RuleScope,
        /// The policy that was asked.
        policy_version: String,
        /// The reason for the decision.
        reason: Option<String>,
        /// The rule that says so.
        rule_id: Option<String>,
    },
    /// Somebody has to decide.
    Suspend {
        /// The policy that was asked.
        policy_version: String,
        /// Who, in this order.
        escalate_to: Vec<String>,
        /// The reason for the decision.
        reason: Option<String>,
    },
}

/// The answer to a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionCheckResponse {
    /// Always `permission_decision`.
    pub object: PermissionDecisionObject,
    /// The caller's id of the question, or the one that it got here.
    pub request_id: String,
    /// What was decided.
    pub decision: PermissionDecision,
}

words! {
    /// What a decision came to, in the history.
    AuditOutcome {
        /// It may be done.
        Granted = "granted",
        /// It may not.
        Denied = "denied",
        /// Somebody had to decide.
        Escalated = "escalated",
    }
}

/// One decision, in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// What was asked.
    pub request: PermissionCheckRequest,
    /// What it came to.
    pub outcome: AuditOutcome,
    /// For whom it holds.
    pub scope: Option<RuleScope>,
    /// The policy that was asked.
    pub policy_version: String,
    /// How much could go wrong.
    pub risk: PermissionRisk,
    /// The rule that decided.
    pub rule_id: Option<String>,
    /// The reason for the decision.
    pub reason: Option<String>,
    /// The time of the decision.
    pub decided_at: String,
    /// Who decided, where a person did (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}
