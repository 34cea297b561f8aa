//! The subscriptions of a Field.

use std::collections::BTreeMap;

use quipu_wire::akashik::SubscriptionEvent;
use serde::{Deserialize, Serialize};

use crate::ids::SubscriptionId;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubscriptionEntry {
    pub agent: String,
    /// The agent's role when it subscribed: what is relevant to a subscription does not change.
    pub role: String,
    /// The agent's topics when it subscribed.
    pub interests: Vec<String>,
    /// What to tell of, in the protocol's order.
    pub events: Vec<SubscriptionEvent>,
    /// Nothing that scores lower.
    pub min_relevance: Option<f64>,
    /// The least time between two pushes about the same thing.
    pub debounce_ms: Option<u64>,
    /// The commit that made it. Nothing before is ever pushed.
    pub position: u64,
    pub epoch: u64,
}

/// All subscriptions by id, which is in the order of their making.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SubscriptionTable {
    by_id: BTreeMap<SubscriptionId, SubscriptionEntry>,
}

impl SubscriptionTable {
    #[must_use]
    pub fn get(&self, id: SubscriptionId) -> Option<&SubscriptionEntry> {
        self.by_id.get(&id)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (SubscriptionId, &SubscriptionEntry)> {
        self.by_id.iter().map(|(id, entry)| (*id, entry))
    }

    /// An agent's own, oldest first.
    pub fn of_agent(
        &self,
        agent: &str,
    ) -> impl Iterator<Item = (SubscriptionId, &SubscriptionEntry)> {
        self.by_id.iter().filter(move |(_, entry)| entry.agent == agent).map(|(id, e)| (*id, e))
    }

    pub fn insert(&mut self, id: SubscriptionId, entry: SubscriptionEntry) {
        self.by_id.insert(id, entry);
    }

    pub fn remove(&mut self, id: SubscriptionId) {
        self.by_id.remove(&id);
    }

    pub fn remove_all_of(&mut self, agent: &str) {
        self.by_id.retain(|_, entry| entry.agent != agent);
    }
}
