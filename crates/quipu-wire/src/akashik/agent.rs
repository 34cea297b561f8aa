//! An agent as the Field knows it.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What an agent is doing, as far as the Field knows.
    AgentStatus {
        /// Registered and free.
        Idle = "idle",
        /// Executing a task.
        Working = "working",
        /// Blocked on another agent or on input.
        Waiting = "waiting",
        /// Deregistered, or out of reach.
        Offline = "offline",
        /// Ended by an error it cannot recover from.
        Failed = "failed",
    }
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Agent {
    /// The agent's own name for itself, unique among live agents.
    pub id: String,
    /// What it does in the team.
    pub role: String,
    /// Set by the Field.
    pub status: AgentStatus,
    /// Topics it wants to hear of.
    pub interests: Vec<String>,
    /// The task it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// Its authority, 0 to 10 (Quipu's extension: the protocol names the levels but no field for them).
    pub authority_level: u8,
}

/// The answer of `GET /v1/agents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentList {
    /// The agents that are registered now, by id.
    pub agents: Vec<Agent>,
    /// Ours: whether there are more behind these. A page ends where it has 8 MiB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// Ours: what to send as `cursor` for those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
