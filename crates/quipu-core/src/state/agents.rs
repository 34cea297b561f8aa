//! The agents of a Field, live and gone.

use std::collections::BTreeMap;

use quipu_wire::akashik::{Agent, AgentStatus};
use serde::{Deserialize, Serialize};

use super::Name;

/// What the Field keeps of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEntry {
    /// Its id, as units name their author.
    pub name: Name,
    /// Its role.
    pub role: String,
    /// Its topics.
    pub interests: Vec<String>,
    /// Its authority.
    pub authority: u8,
    /// What it is doing.
    pub status: AgentStatus,
    /// How many units it recorded.
    pub units: u64,
    /// The task it works on.
    pub current_task: Option<String>,
}

impl AgentEntry {
    /// Whether the agent takes part now.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        match self.status {
            AgentStatus::Idle | AgentStatus::Working | AgentStatus::Waiting => true,
            AgentStatus::Offline | AgentStatus::Failed => false,
        }
    }

    /// The agent as the protocol shows it.
    #[must_use]
    pub fn to_wire(&self, id: &str) -> Agent {
        Agent {
            id: id.to_owned(),
            role: self.role.clone(),
            status: self.status,
            interests: self.interests.clone(),
            current_task_id: self.current_task.clone(),
            authority_level: self.authority,
        }
    }
}

/// All agents by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTable {
    by_id: BTreeMap<String, AgentEntry>,
}

impl AgentTable {
    /// The agent of that id, live or gone.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&AgentEntry> {
        self.by_id.get(id)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut AgentEntry> {
        self.by_id.get_mut(id)
    }

    /// The agent of that id, if it takes part now.
    #[must_use]
    pub fn live(&self, id: &str) -> Option<&AgentEntry> {
        self.get(id).filter(|agent| agent.is_live())
    }

    /// All that take part now, by id.
    pub fn all_live(&self) -> impl Iterator<Item = (&str, &AgentEntry)> {
        self.by_id
            .iter()
            .filter(|(_, agent)| agent.is_live())
            .map(|(id, agent)| (id.as_str(), agent))
    }

    /// All that ever took part, by id.
    pub fn all(&self) -> impl Iterator<Item = (&str, &AgentEntry)> {
        self.by_id.iter().map(|(id, agent)| (id.as_str(), agent))
    }

    /// Puts an agent under its id.
    pub fn insert(&mut self, id: &str, agent: AgentEntry) {
        self.by_id.insert(id.to_owned(), agent);
    }
}
