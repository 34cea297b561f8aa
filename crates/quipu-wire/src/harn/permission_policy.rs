//! The permission policy and the rules that remember what was answered before.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reading;
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// Of which class something is that is to be done.
    PermissionClass {
        /// It reads files.
        Read = "read",
        /// It writes files.
        Write = "write",
        /// It starts programs.
        Exec = "exec",
        /// It talks to a host.
        Net = "net",
        /// It asks a model.
        Llm = "llm",
        /// Anything else.
        Custom = "custom",
    }
}

words! {
    /// For whom a rule holds.
    RuleScope {
        /// One Session.
        Session = "session",
        /// One Workspace.
        Workspace = "workspace",
        /// One actor.
        User = "user",
        /// Everybody.
        Always = "always",
    }
}

words! {
    /// The word in `object` of the policy.
    PermissionPolicyObject {
        /// Always this one.
        PermissionPolicy = "permission_policy",
    }
}

/// The models that may be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LlmPolicy {
    /// Whose.
    #[serde(default)]
    pub providers: Vec<String>,
    /// How much may be spent.
    #[serde(default)]
    pub cost_ceiling_usd_cents: Option<u64>,
}

/// What is to be hidden.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedactPolicy {
    /// In transcripts.
    #[serde(default)]
    pub transcript: Vec<String>,
    /// In logs.
    #[serde(default)]
    pub logs: Vec<String>,
}

/// What may be done without asking: patterns of targets, by class. `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionPolicy {
    /// What may be read.
    #[serde(default)]
    pub read: Vec<String>,
    /// What may be written.
    #[serde(default)]
    pub write: Vec<String>,
    /// What may be started.
    #[serde(default)]
    pub exec: Vec<String>,
    /// Which hosts may be talked to.
    #[serde(default)]
    pub net: Vec<String>,
    /// Which models may be asked.
    #[serde(default)]
    pub llm: LlmPolicy,
    /// What is to be hidden.
    #[serde(default)]
    pub redact: RedactPolicy,
    /// Who decides about the rest, in this order.
    #[serde(default)]
    pub escalate_to: Vec<String>,
}

/// The policy with its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PermissionPolicyResponse {
    /// Always `permission_policy`.
    pub object: PermissionPolicyObject,
    /// The digest of the policy.
    pub version: String,
    /// The policy.
    pub policy: PermissionPolicy,
}

/// What was once allowed or denied, and is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RememberRule {
    /// Its id; the server's to give.
    pub id: String,
    /// The tenant.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// For whom it holds.
    pub scope: RuleScope,
    /// Which of them.
    #[serde(default)]
    pub scope_value: Option<String>,
    /// Of which class.
    pub class: PermissionClass,
    /// Which actions.
    pub action_pattern: String,
    /// Which targets.
    pub target_pattern: String,
    /// Whether they may be done.
    pub allow: bool,
    /// The reason for the rule.
    #[serde(default)]
    pub reason: Option<String>,
    /// When it was made; the server's to say.
    pub created_at: String,
    /// Who made it; the server's to say.
    pub created_by: String,
    /// Until when it holds.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// When it was taken back.
    #[serde(default)]
    pub revoked_at: Option<String>,
}

impl PermissionPolicy {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let llm = object.take_object("llm")?.map(|mut llm| {
            Ok(LlmPolicy {
                providers: llm.take_texts("providers")?,
                cost_ceiling_usd_cents: llm.take_integer("cost_ceiling_usd_cents")?,
            })
        });
        let redact = object.take_object("redact")?.map(|mut redact| {
            Ok(RedactPolicy {
                transcript: redact.take_texts("transcript")?,
                logs: redact.take_texts("logs")?,
            })
        });
        Ok(Self {
            read: object.take_texts("read")?,
            write: object.take_texts("write")?,
            exec: object.take_texts("exec")?,
            net: object.take_texts("net")?,
            llm: llm.transpose()?.unwrap_or_default(),
            redact: redact.transpose()?.unwrap_or_default(),
            escalate_to: object.take_texts("escalate_to")?,
        })
    }
}

impl RememberRule {
    /// Reads the body of `POST /v1/permissions/rules`. Id, time and author are the server's to say: what
    /// the body says of them does not count.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let scope = object.require_word("scope", RuleScope::WORDS, RuleScope::parse)?;
        Ok(Self {
            id: String::new(),
            tenant_id: object.take_id("tenant_id")?,
            scope,
            scope_value: read_scope_value(&mut object, scope)?,
            class: object.require_word("class", PermissionClass::WORDS, PermissionClass::parse)?,
            action_pattern: object.require_text("action_pattern")?,
            target_pattern: object.require_text("target_pattern")?,
            allow: object
                .take_bool("allow")?
                .ok_or_else(|| object.refuse("allow", "is required"))?,
            reason: object.take_nonblank("reason")?,
            created_at: String::new(),
            created_by: String::new(),
            expires_at: object.take_time("expires_at")?,
            revoked_at: None,
        })
    }
}

/// A rule for one Session, Workspace or actor says which.
fn read_scope_value(
    object: &mut ObjectReader,
    scope: RuleScope,
) -> Result<Option<String>, ReadError> {
    let value = object.take_id("scope_value")?;
    match (scope, value) {
        (RuleScope::Always, Some(_)) => Err(object.refuse("scope_value", "must be absent here")),
        (RuleScope::Session | RuleScope::Workspace | RuleScope::User, None) => {
            Err(object.refuse("scope_value", "is required for this scope"))
        }
        (_, value) => Ok(value),
    }
}
