//! The first thing that a replay could not have (RP-17). It names what is missing and never holds any of it.

use serde::Serialize;
use serde_json::json;

use quipu_wire::harn::{DependencyKind, Failure, JsonObject};

use super::recording::{RecordedEvent, ReferenceKind};

const UNAVAILABLE: &str = "replay_dependency_unavailable";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnavailableKind {
    Event,
    Artifact,
    Memory,
    Receipt,
    Dependency(DependencyKind),
    /// An answer that was asked for and never recorded, under a key that says nothing of its kind.
    NeverRecorded,
}

impl UnavailableKind {
    /// What an answer under a key would have been that was never recorded.
    #[must_use]
    pub fn never_recorded(key: &str) -> Self {
        match key.split_once(':').map(|(class, _)| class) {
            Some("llm") => Self::Dependency(DependencyKind::LlmProviderResponse),
            Some("mcp") => Self::Dependency(DependencyKind::McpToolReturn),
            Some("secret") => Self::Dependency(DependencyKind::SecretValue),
            Some("time") => Self::Dependency(DependencyKind::Time),
            Some(_) | None => Self::NeverRecorded,
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let plain = [Self::Event, Self::Artifact, Self::Memory, Self::Receipt, Self::NeverRecorded];
        let plain = plain.into_iter().find(|kind| kind.as_str() == word);
        plain.or_else(|| DependencyKind::parse(word).map(Self::Dependency))
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Artifact => "artifact",
            Self::Memory => "memory",
            Self::Receipt => "receipt",
            Self::Dependency(kind) => kind.as_str(),
            Self::NeverRecorded => "host_dependency",
        }
    }
}

impl From<ReferenceKind> for UnavailableKind {
    fn from(kind: ReferenceKind) -> Self {
        match kind {
            ReferenceKind::Artifact => Self::Artifact,
            ReferenceKind::Memory => Self::Memory,
            ReferenceKind::Receipt => Self::Receipt,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {id} is unavailable: {reason}", .kind.as_str())]
pub struct Unavailable {
    pub kind: UnavailableKind,
    /// Its id, or its key where it is an answer.
    pub id: String,
    /// The key under which it would be substituted.
    pub override_key: Option<String>,
    /// The recorded event that needs it.
    pub event_id: Option<String>,
    /// That event's place.
    pub sequence: Option<u64>,
    pub reason: String,
}

impl Unavailable {
    /// A missing thing that an event needs.
    pub(crate) fn of_event(
        event: &RecordedEvent,
        kind: UnavailableKind,
        id: &str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            override_key: None,
            event_id: Some(event.event_id.clone()),
            sequence: Some(event.sequence),
            reason: reason.into(),
        }
    }

    /// The same, with the key that would substitute it.
    pub(crate) fn under(mut self, key: &str) -> Self {
        self.override_key = Some(key.to_owned());
        self
    }

    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure {
            code: UNAVAILABLE.to_owned(),
            message: self.to_string(),
            details: JsonObject::with("first_unavailable", self.details()),
        }
    }

    /// What a failure says was missing; nothing if it says something else.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Option<Self> {
        if failure.code != UNAVAILABLE {
            return None;
        }
        let details = failure.details.get("first_unavailable")?;
        let text = |name: &str| details.get(name)?.as_str().map(str::to_owned);
        Some(Self {
            kind: UnavailableKind::parse(&text("kind")?)?,
            id: text("id")?,
            override_key: text("override_key"),
            event_id: text("event_id"),
            sequence: details.get("sequence").and_then(serde_json::Value::as_u64),
            reason: text("reason")?,
        })
    }

    fn details(&self) -> serde_json::Value {
        #[derive(Serialize)]
        struct Details<'a> {
            kind: &'a str,
            id: &'a str,
            override_key: Option<&'a str>,
            event_id: Option<&'a str>,
            sequence: Option<u64>,
            reason: &'a str,
        }
        json!(Details {
            kind: self.kind.as_str(),
            id: &self.id,
            override_key: self.override_key.as_deref(),
            event_id: self.event_id.as_deref(),
            sequence: self.sequence,
            reason: &self.reason,
        })
    }
}
