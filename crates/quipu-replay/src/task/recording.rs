//! A recording: the events of a finished Task in order, with every answer that the run consumed. Events come
//! one by one, so that a replay's memory does not grow with the length of the recording.

use serde_json::Value;

use quipu_wire::harn::{DependencyKind, EventName, Sha256, Visibility};

#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    pub event_id: String,
    pub event: EventName,
    /// Its place in the Task's stream; grows from event to event.
    pub sequence: u64,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The event before it, where that is known: a gap is then noticed by name.
    pub previous_event_id: Option<String>,
    pub payload_sha256: Sha256,
    pub visibility: Visibility,
    pub dependency: Option<RecordedDependency>,
    pub checkpoint_id: Option<String>,
    /// What else the run used and a replay needs.
    pub references: Vec<Reference>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDependency {
    /// Its key, unique in the recording.
    pub key: String,
    pub kind: DependencyKind,
    pub request_sha256: Option<Sha256>,
    /// The digest of the answer; for a secret, a keyed one.
    pub sha256: Sha256,
    pub visibility: Visibility,
    pub material: Material,
    /// Whether the server gave it itself: time, chance, a secret of a vault, what the Field knows.
    pub by_server: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Material {
    Value(Value),
    Artifact(String),
    /// Only its hash was kept, as of secrets. In process that is enough; a worker cannot be given it.
    HashOnly,
    /// It is gone: purged, expired, lost.
    Gone {
        /// Why, in words without the answer.
        reason: String,
    },
}

impl Material {
    #[must_use]
    pub const fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}

/// Something besides answers that a recorded run used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub kind: ReferenceKind,
    pub id: String,
    /// Its digest at the time, if it was noted.
    pub sha256: Option<Sha256>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    Artifact,
    Memory,
    Receipt,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Yes, and this is the digest of what is there, if it was computed.
    Present(Option<Sha256>),
    Absent {
        reason: String,
    },
}

/// What is kept outside of events, and whether a replay still finds it.
pub trait Materials {
    /// Whether this can still be had. Must not ask anybody live.
    fn find(&self, kind: ReferenceKind, id: &str) -> Availability;
}

/// What admission needs to know of a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencySummary {
    /// The event that recorded it.
    pub event_id: String,
    /// That event's place.
    pub sequence: u64,
    pub kind: DependencyKind,
}
