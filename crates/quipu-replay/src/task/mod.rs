//! Replay of a recorded Task: whether it can be (admission), how (the plan), doing it event by event (the
//! engine) or answer by answer for a worker outside (the oracle), and what came of it. No mode ever asks
//! anybody live: what is not recorded and not substituted fails the replay, and is named.

mod admission;
mod divergence;
mod drift;
mod engine;
mod identity;
mod lifecycle;
mod oracle;
mod outcome;
mod plan;
mod recording;
mod unavailable;

#[cfg(test)]
pub(crate) mod tests;

pub use admission::{AdmissionError, SourceTask, admit};
pub use divergence::Comparison;
pub use drift::{Drift, DriftKind};
pub use engine::Replayer;
pub use identity::{ReplayIdentity, checkpoint_key, delta_id, event_key};
pub use lifecycle::RecordedLifecycle;
pub(crate) use lifecycle::lifecycle_member;
pub use oracle::{Answer, Oracle, OracleReport, Resolution};
pub use outcome::{AppliedOverride, Departure, ReplayOutcome, ReplayedEvent, ReplayedPayload};
pub use plan::{Boundary, HashTrust, PlannedOverride, ReplayPlan, Substitute};
pub use recording::{
    Availability, DependencySummary, Material, Materials, RecordedDependency, RecordedEvent,
    Reference, ReferenceKind,
};
pub use unavailable::{Unavailable, UnavailableKind};
