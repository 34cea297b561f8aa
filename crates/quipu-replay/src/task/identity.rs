//! Ids that a replay derives from its source instead of drawing them, so that the same replay has the same
//! ids wherever it runs (BI-4).

use quipu_wire::harn::ResourceKind;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayIdentity {
    pub source_task_id: String,
    pub replay_task_id: String,
    /// What the ids of its events start with, where whoever keeps them knows better than the Task's id.
    #[serde(skip)]
    pub event_prefix: Option<String>,
}

impl ReplayIdentity {
    /// The identity of a replay of `source_task_id`: `task_source_X` and `task_X` become `task_replay_X`.
    #[must_use]
    pub fn of(source_task_id: &str) -> Self {
        Self {
            source_task_id: source_task_id.to_owned(),
            replay_task_id: replayed(ResourceKind::Task, source_task_id),
            event_prefix: None,
        }
    }

    /// The same replay under another Task id, where the caller keeps ids of its own.
    #[must_use]
    pub fn with_replay_task(mut self, replay_task_id: impl Into<String>) -> Self {
        self.replay_task_id = replay_task_id.into();
        self
    }

    /// The id of the replay's receipt, from the id of the source's receipt.
    #[must_use]
    pub fn receipt_id(source_receipt_id: &str) -> String {
        replayed(ResourceKind::Receipt, source_receipt_id)
    }

    /// The id of the replay's event number `ordinal`. Ids of one replay grow.
    #[must_use]
    pub fn event_id(&self, ordinal: u64) -> String {
        if let Some(prefix) = &self.event_prefix {
            return format!("{prefix}_{ordinal:010}");
        }
        let rest = ResourceKind::Task.rest_of(&self.replay_task_id);
        let rest = rest.unwrap_or(&self.replay_task_id);
        ResourceKind::Event.id(&format!("{rest}_{ordinal:010}"))
    }

    /// The opaque place of event number `ordinal` in the replay.
    #[must_use]
    pub fn cursor(ordinal: u64) -> String {
        format!("replay:{ordinal:010}")
    }
}

fn replayed(kind: ResourceKind, source: &str) -> String {
    let rest = kind.rest_of(source).unwrap_or(source);
    let rest = rest.strip_prefix("source_").filter(|rest| !rest.is_empty()).unwrap_or(rest);
    kind.id(&format!("replay_{rest}"))
}

/// The key under which an event's payload is substituted.
#[must_use]
pub fn event_key(event_id: &str) -> String {
    format!("event:{event_id}")
}

/// The key under which a checkpoint's state is substituted.
#[must_use]
pub fn checkpoint_key(checkpoint_id: &str) -> String {
    format!("checkpoint:{checkpoint_id}")
}

/// The id of an override's delta: its key, with everything but letters and digits made an underscore.
#[must_use]
pub fn delta_id(key: &str) -> String {
    let safe = key.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' });
    format!("delta_{}", safe.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_derived_from_the_source() {
        assert_eq!(ReplayIdentity::of("task_source_01").replay_task_id, "task_replay_01");
        assert_eq!(ReplayIdentity::of("task_01").replay_task_id, "task_replay_01");
        assert_eq!(ReplayIdentity::of("task_replay_01").replay_task_id, "task_replay_replay_01");
        assert_eq!(ReplayIdentity::receipt_id("receipt_01"), "receipt_replay_01");
        let identity = ReplayIdentity::of("task_01");
        assert_eq!(identity.event_id(7), "event_replay_01_0000000007");
        assert!(identity.event_id(9) < identity.event_id(10));
    }
}
