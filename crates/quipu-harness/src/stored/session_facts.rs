//! What only this protocol knows of a Session, as its document says it. The words are stable.

use quipu_wire::harn::{CreateSessionRequest, EventKind, JsonObject, ModelPolicy, SessionMode};
use serde::{Deserialize, Serialize};

/// The body of a Session's document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionFacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) persona_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) vault_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) memory_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skill_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode_id: Option<SessionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model_policy: Option<ModelPolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<ForkPoint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cuts: Vec<Cut>,
    /// The Event that stands for the last change, where it is more than a change.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    pub(crate) change_event: Option<ChangeEvent>,
    #[serde(default)]
    pub(crate) metadata: JsonObject,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForkPoint {
    pub(crate) session: String,
    /// The first of them all.
    pub(crate) root: String,
    /// The number of the last Event that they share.
    pub(crate) at: u64,
    /// How many forks there are up to it.
    pub(crate) depth: u32,
}

/// A span of Events whose Messages were cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The number of the Event that stays last.
    pub(crate) after: u64,
    /// The number of the last one that there was.
    pub(crate) until: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeEvent {
    pub(crate) event: EventKind,
    pub(crate) payload: JsonObject,
}

impl SessionFacts {
    pub(crate) fn of(request: CreateSessionRequest) -> Self {
        Self {
            persona_id: request.persona_id,
            vault_ids: request.vault_ids,
            memory_ids: request.memory_ids,
            skill_ids: request.skill_ids,
            mode_id: request.mode_id,
            model_policy: request.model_policy,
            metadata: request.metadata,
            ..Self::default()
        }
    }
}

impl Cut {
    /// Whether it takes away what happened at a number.
    pub(crate) const fn takes(&self, sequence: u64) -> bool {
        sequence > self.after && sequence <= self.until
    }
}
