//! What a replay did: the events that it emitted one by one, and at the end what it substituted and how it ended.

use quipu_wire::harn::{
    DeltaOperation, DependencyKind, EventName, ReplayEventMetadata, ReplayMode, RequestDrift,
    Sha256, Visibility,
};

use super::{
    lifecycle::RecordedLifecycle,
    oracle::OracleReport,
    plan::{Boundary, PlannedOverride, Substitute},
    unavailable::Unavailable,
};

#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedEvent {
    /// Its own id, derived from the replay's.
    pub event_id: String,
    /// What happened, then and again.
    pub event: EventName,
    /// Its place in the replay's stream, from 0.
    pub sequence: u64,
    /// When it happened, in recorded time.
    pub at: String,
    pub visibility: Visibility,
    pub payload: ReplayedPayload,
    /// All six members that a remapped event must carry, and its delta.
    pub replay: ReplayEventMetadata,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ReplayedPayload {
    Recorded {
        sha256: Sha256,
    },
    /// A substitute. One that is `receipt_only`, above all a secret, must not be shown: only its digest is,
    /// and of a secret not even that.
    Substituted {
        substitute: Substitute,
        sha256: Sha256,
    },
}

impl ReplayedPayload {
    pub(super) fn of(planned: &PlannedOverride) -> Self {
        Self::Substituted { substitute: planned.substitute.clone(), sha256: planned.sha256 }
    }

    #[must_use]
    pub const fn sha256(&self) -> Sha256 {
        match self {
            Self::Recorded { sha256 } | Self::Substituted { sha256, .. } => *sha256,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedOverride {
    pub key: String,
    pub kind: DependencyKind,
    /// The event whose answer it replaced.
    pub event_id: String,
    /// `replace`, or `add` where the recorded answer was gone.
    pub operation: DeltaOperation,
    /// The digest before; nothing if it was gone.
    pub before: Option<Sha256>,
    pub after: Sha256,
    pub artifact_id: Option<String>,
    pub visibility: Visibility,
    pub reason: Option<String>,
}

/// Where a worker's run was not what its source was, besides what it was asked to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// What differs, as a delta names it.
    pub path: String,
    pub operation: DeltaOperation,
    /// The event of the source.
    pub event_id: Option<String>,
    pub before: Option<Sha256>,
    pub after: Option<Sha256>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOutcome {
    pub source_task_id: String,
    pub replay_task_id: String,
    pub mode: ReplayMode,
    pub boundary: Option<Boundary>,
    pub events: u64,
    /// The digest of the source's events that were read.
    pub event_log_sha256: Sha256,
    /// The overrides that took effect, by key.
    pub applied: Vec<AppliedOverride>,
    /// Times and end, with substituted times.
    pub lifecycle: RecordedLifecycle,
    /// Questions that were not the same, where a worker replayed.
    pub request_drift: Vec<RequestDrift>,
    /// Where a worker's run was not its source's.
    pub departures: Vec<Departure>,
    /// The first thing that could not be had; the replay failed if there is one.
    pub first_unavailable: Option<Unavailable>,
}

impl ReplayOutcome {
    /// Takes up what a worker's replay consulted.
    #[must_use]
    pub fn with_oracle(mut self, report: OracleReport) -> Self {
        self.request_drift = report.request_drift;
        self.first_unavailable = report.first_unavailable.or(self.first_unavailable);
        self
    }
}
