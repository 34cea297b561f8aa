//! What passed through the proxy and was carried out: what a broken server may remember or leak.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::tamper::{Answered, Asked};

/// An operation that the real server carried out, with its own answer.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) operation: String,
    pub(crate) agent: String,
    pub(crate) session: Value,
    pub(crate) payload: Value,
    pub(crate) answer: Value,
}

/// Everything that was carried out, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Past(Mutex<Vec<Exchange>>);

impl Past {
    fn all(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, asked: &Asked, answered: &Answered) {
        if answered.status < 300 && asked.method == "POST" {
            self.all().push(Exchange {
                operation: asked.operation.clone(),
                agent: asked.message["agent_id"].as_str().unwrap_or_default().to_owned(),
                session: asked.message["session_id"].clone(),
                payload: asked.message["payload"].clone(),
                answer: answered.body.clone(),
            });
        }
    }

    /// The exchanges of one operation.
    pub(crate) fn of(&self, operation: &str) -> Vec<Exchange> {
        self.all().iter().filter(|past| past.operation == operation).cloned().collect()
    }

    /// The last exchange of an operation that fits.
    pub(crate) fn last(
        &self,
        operation: &str,
        fits: impl Fn(&Exchange) -> bool,
    ) -> Option<Exchange> {
        self.of(operation).into_iter().rfind(fits)
    }

    /// The RECORD that made this unit.
    pub(crate) fn unit(&self, id: &Value) -> Option<Exchange> {
        self.last("RECORD", |past| past.answer["memory_unit_id"] == *id)
    }

    /// The authority that an agent declared when it registered.
    pub(crate) fn authority(&self, agent: &str) -> Option<u64> {
        let registered = self.last("REGISTER", |past| past.agent == agent)?;
        registered.payload["authority_level"].as_u64()
    }
}

impl Exchange {
    /// The unit of a RECORD as an ATTUNE that knows no rules would give it.
    pub(crate) fn as_item(&self) -> Value {
        let mut unit = self.payload.clone();
        unit["id"] = self.answer["memory_unit_id"].clone();
        unit["epoch"] = self.answer["epoch"].clone();
        unit["status"] = json!("active");
        unit["source"] = json!({
            "agent_id": self.agent, "agent_role": "scribe", "session_id": self.session,
            "timestamp": "2026-01-01T00:00:00Z",
        });
        json!({"memory_unit": unit, "relevance_score": 0.01, "relevance_reason": "it was recorded",
               "format": "full"})
    }
}
