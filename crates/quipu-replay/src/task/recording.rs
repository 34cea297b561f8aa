//! A recording: the events of a finished Task in order, with every answer that the run consumed. Events come
//! one by one, so that a replay's memory does not grow with the length of the recording.

use serde_json::Value;

use quipu_wire::harn::{DependencyKind, EventName, Sha256, Visibility};

/// One event of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    /// Its id.
    pub event_id: String,
    /// What happened.
    pub event: EventName,
    /// Its place in the Task's stream; grows from event to event.
    pub sequence: u64,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The event before it, where that is known: a gap is then noticed by name.
    pub previous_event_id: Option<String>,
    /// The digest of its payload.
    pub payload_sha256: Sha256,
    /// Who may see the payload.
    pub visibility: Visibility,
    /// The answer that this event recorded, if it did.
    pub dependency: Option<RecordedDependency>,
    /// The checkpoint that this event made, if it did.
    pub checkpoint_id: Option<String>,
    /// What else the run used and a replay needs.
    pub references: Vec<Reference>,
}

/// An answer that the run consumed.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDependency {
    /// Its key, unique in the recording.
    pub key: String,
    /// What it is.
    pub kind: DependencyKind,
    /// The digest of what was asked.
    pub request_sha256: Option<Sha256>,
    /// The digest of the answer; for a secret, a keyed one.
    pub sha256: Sha256,
    /// Who may see it.
    pub visibility: Visibility,
    /// The answer itself, or what is left of it.
    pub material: Material,
    /// Whether the server gave it itself: time, chance, a secret of a vault, what the Field knows.
    pub by_server: bool,
}

/// What is left of a recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Material {
    /// The answer.
    Value(Value),
    /// In an Artifact.
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
    /// Whether nothing is left of it.
    #[must_use]
    pub const fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}

/// Something besides answers that a recorded run used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it is.
    pub kind: ReferenceKind,
    /// Its id.
    pub id: String,
    /// Its digest at the time, if it was noted.
    pub sha256: Option<Sha256>,
}

/// What a reference is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// An Artifact's bytes.
    Artifact,
    /// A memory unit.
    Memory,
    /// A receipt.
    Receipt,
}

/// Whether something can still be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Yes, and this is the digest of what is there, if it was computed.
    Present(Option<Sha256>),
    /// No.
    Absent {
        /// Why, in words.
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
    /// What it is.
    pub kind: DependencyKind,
}
