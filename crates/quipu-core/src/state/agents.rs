//! The agents of a Field, live and gone.

use std::collections::BTreeMap;

use quipu_wire::akashik::{Agent, AgentStatus};
use serde::{Deserialize, Serialize};

use super::Name;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredAgent", into = "StoredAgent")]
pub struct AgentEntry {
    /// Its id, as units name their author.
    pub name: Name,
    pub role: String,
    /// Whether the role is only its own word: nobody granted it.
    pub claimed: bool,
    pub interests: Vec<String>,
    pub authority: u8,
    pub status: AgentStatus,
    pub units: u64,
    pub current_task: Option<String>,
}

impl AgentEntry {
    #[must_use]
    pub const fn is_live(&self) -> bool {
        match self.status {
            AgentStatus::Idle | AgentStatus::Working | AgentStatus::Waiting => true,
            AgentStatus::Offline | AgentStatus::Failed => false,
        }
    }

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

/// An agent as it is written. Whether its role is claimed is one bit more of its authority, so that the states of logs
/// in which nobody only claims a role are written as ever.
#[derive(Serialize, Deserialize)]
struct StoredAgent {
    name: Name,
    role: String,
    interests: Vec<String>,
    authority: u8,
    status: AgentStatus,
    units: u64,
    current_task: Option<String>,
}

/// The bit of the authority that says so.
const CLAIMED: u8 = 0x80;

impl From<StoredAgent> for AgentEntry {
    fn from(stored: StoredAgent) -> Self {
        let StoredAgent { name, role, interests, authority, status, units, current_task } = stored;
        Self {
            name,
            role,
            claimed: authority & CLAIMED != 0,
            interests,
            authority: authority & !CLAIMED,
            status,
            units,
            current_task,
        }
    }
}

impl From<AgentEntry> for StoredAgent {
    fn from(entry: AgentEntry) -> Self {
        let AgentEntry { name, role, claimed, interests, authority, status, units, current_task } =
            entry;
        let authority = if claimed { authority | CLAIMED } else { authority };
        Self { name, role, interests, authority, status, units, current_task }
    }
}

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

    pub fn insert(&mut self, id: &str, agent: AgentEntry) {
        self.by_id.insert(id.to_owned(), agent);
    }
}
