//! The first place where a strict replay was not what was recorded. It holds digests and never what was asked or said.

use quipu_wire::harn::{Failure, JsonObject, OutcomeStatus, RequestDrift, Sha256};
use serde::Serialize;
use serde_json::json;

use super::recording::RecordedEvent;

const DRIFTED: &str = "replay_drifted";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// Something else was asked under a key.
    Request,
    /// A recorded answer was never asked for.
    NotAsked,
    /// Something else came of it.
    Output,
    /// It ended in another state.
    Ending,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}", self.words())]
pub struct Drift {
    pub what: DriftKind,
    /// The key of the answer, where it is about one.
    pub key: Option<String>,
    /// What it was then: a digest, or the state in which it ended.
    pub recorded: Option<String>,
    /// What it is now.
    pub asked: Option<String>,
    /// The event that recorded the answer.
    pub event_id: Option<String>,
    /// That event's place.
    pub sequence: Option<u64>,
}

impl Drift {
    /// Another question under a key.
    #[must_use]
    pub fn of_request(drift: &RequestDrift, recorded: Option<&RecordedEvent>) -> Self {
        Self {
            what: DriftKind::Request,
            key: Some(drift.key.clone()),
            recorded: drift.recorded.map(|digest| digest.to_string()),
            asked: drift.asked.map(|digest| digest.to_string()),
            event_id: recorded.map(|event| event.event_id.clone()),
            sequence: recorded.map(|event| event.sequence),
        }
    }

    /// A recorded answer that the replay went without; nothing where the event recorded none.
    #[must_use]
    pub fn left_out(recorded: &RecordedEvent) -> Option<Self> {
        let answer = recorded.dependency.as_ref()?;
        Some(Self {
            what: DriftKind::NotAsked,
            key: Some(answer.key.clone()),
            recorded: Some(answer.sha256.to_string()),
            asked: None,
            event_id: Some(recorded.event_id.clone()),
            sequence: Some(recorded.sequence),
        })
    }

    #[must_use]
    pub fn of_output(then: Option<Sha256>, now: Option<Sha256>) -> Self {
        let text = |digest: Option<Sha256>| digest.map(|digest| digest.to_string());
        Self::of_end(DriftKind::Output, text(then), text(now))
    }

    #[must_use]
    pub fn of_ending(then: OutcomeStatus, now: OutcomeStatus) -> Self {
        let text = |state: OutcomeStatus| Some(state.as_str().to_owned());
        Self::of_end(DriftKind::Ending, text(then), text(now))
    }

    const fn of_end(what: DriftKind, recorded: Option<String>, asked: Option<String>) -> Self {
        Self { what, key: None, recorded, asked, event_id: None, sequence: None }
    }

    #[must_use]
    pub fn failure(&self) -> Failure {
        let details = JsonObject::with("first_drift", json!(self));
        Failure { code: DRIFTED.to_owned(), message: self.to_string(), details }
    }

    fn words(&self) -> String {
        let key = self.key.as_deref().unwrap_or_default();
        let place = self.event_id.as_deref().unwrap_or_default();
        match self.what {
            DriftKind::Request => {
                format!("the replay asked something else under {key} than event {place} recorded")
            }
            DriftKind::NotAsked => {
                format!("the replay never asked for {key}, which event {place} recorded")
            }
            DriftKind::Output => "the replay came to another output than its source".to_owned(),
            DriftKind::Ending => {
                let side = |state: &Option<String>| state.clone().unwrap_or_default();
                format!(
                    "the replay ended {}, its source {}",
                    side(&self.asked),
                    side(&self.recorded)
                )
            }
        }
    }
}
