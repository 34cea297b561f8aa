//! What all resources share: the envelope, pointers, visibility, and the kinds with their id
//! prefixes.

use serde::{Deserialize, Serialize};

use super::JsonObject;
use crate::words::words;

words! {
    /// The kinds of resources, by the word in `object`.
    ResourceKind {
        /// A policy under which agents work.
        Persona = "persona",
        /// An isolation boundary.
        Workspace = "workspace",
        /// A conversation.
        Session = "session",
        /// A piece of work.
        Task = "task",
        /// A line of work beside the main one.
        Branch = "branch",
        /// Something said.
        Message = "message",
        /// Something made.
        Artifact = "artifact",
        /// Something that happened.
        Event = "event",
        /// A proof of what happened.
        Receipt = "receipt",
        /// Something known.
        Memory = "memory",
        /// A holder of secrets.
        Vault = "vault",
        /// A way in for others' events.
        Connector = "connector",
        /// Something that agents can do.
        Skill = "skill",
        /// How a Task ended.
        Outcome = "outcome",
        /// A limit.
        Quota = "quota",
        /// A question whether something may be done.
        PermissionRequest = "permission_request",
        /// What was once allowed or denied, and is to be remembered.
        PermissionRule = "rule",
        /// What was decided about something that somebody wanted to do.
        PermissionDecision = "decision",
        /// Something that can be called.
        Tool = "tool",
        /// A text under a path of a Workspace.
        File = "file",
    }
}

impl ResourceKind {
    /// What an id of this kind starts with: the word and an underscore.
    #[must_use]
    pub fn id(self, rest: &str) -> String {
        format!("{}_{rest}", self.as_str())
    }

    /// What an id of this kind says after its prefix; nothing if it is not one.
    #[must_use]
    pub fn rest_of(self, id: &str) -> Option<&str> {
        let rest = id.strip_prefix(self.as_str())?.strip_prefix('_')?;
        (!rest.is_empty()).then_some(rest)
    }
}

words! {
    /// Who may see a content.
    Visibility {
        /// Everybody who may see the resource.
        Public = "public",
        /// The operators of the Field.
        Internal = "internal",
        /// Nobody: receipts prove it by a hash.
        ReceiptOnly = "receipt_only",
    }
}

words! {
    /// How much an agent may do by itself.
    AutonomyTier {
        /// Watch only.
        Shadow = "shadow",
        /// Propose.
        Suggest = "suggest",
        /// Act when somebody agreed.
        ActWithApproval = "act_with_approval",
        /// Act.
        ActAuto = "act_auto",
    }
}

/// What every resource carries besides `object` and its own members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResourceEnvelope {
    /// Its id, never used again for another resource.
    pub id: String,
    /// When it was made, RFC 3339 in UTC.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// The place for members that the protocol does not know.
    pub metadata: JsonObject,
}

impl ResourceEnvelope {
    #[must_use]
    pub fn new(id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        let updated_at = created_at.clone();
        Self { id: id.into(), created_at, updated_at, metadata: JsonObject::default() }
    }
}

/// Names a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResourcePointer {
    /// What it is.
    pub object: String,
    /// The id of the resource.
    pub id: String,
}

/// Why a Task or an Outcome failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Failure {
    /// An open set of words, such as `replay_dependency_unavailable`.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// More, for programs.
    #[serde(default)]
    pub details: JsonObject,
}

#[cfg(test)]
mod tests {
    use super::ResourceKind;

    #[test]
    fn an_id_starts_with_its_kind() {
        for kind in ResourceKind::ALL {
            let id = kind.id("01");
            assert_eq!(kind.rest_of(&id), Some("01"));
            assert_eq!(kind.rest_of(kind.as_str()), None);
            assert_eq!(kind.rest_of(&kind.id("")), None);
        }
        assert_eq!(ResourceKind::Task.rest_of("session_01"), None);
    }
}
