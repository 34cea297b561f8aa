//! The Akashik Protocol 0.1.0: one file per operation, one per type that operations share.

mod agent;
mod attune;
mod capabilities;
mod compact;
mod conflict;
mod deregister;
mod detect;
mod envelope;
mod field_status;
mod operation;
mod record;
mod register;
mod replay;
mod scope;
mod unit;
mod words;

pub use agent::{Agent, AgentList, AgentStatus};
pub use attune::{
    AttunePayload, AttuneResponse, ContextBudget, Explanation, FactorExplanation, Format,
    ScopedMemoryUnit, UnitView,
};
pub use capabilities::FieldCapabilities;
pub use compact::{CompactFilter, CompactPayload, CompactResponse, CompactStrategy};
pub use conflict::{
    Conflict, ConflictList, ConflictStatus, ConflictStrategy, ConflictType, DetectedBy, Resolution,
};
pub use deregister::{Cleanup, DeregisterPayload, DeregisterResponse, DeregisterStatus};
pub use detect::{DetectFilter, DetectMode, DetectPayload, DetectResponse, ScanCoverage};
pub use envelope::{Envelope, is_envelope};
pub use field_status::{Counts, FieldStatus};
pub use operation::Operation;
pub use record::{ConflictDetection, RecordPayload, RecordResponse, RecordStatus};
pub use register::{RegisterPayload, RegisterResponse, RegisterStatus};
pub use replay::{ReplayDepth, ReplayEvent, ReplayPayload, ReplayResponse, ReplayTarget};
pub use scope::{Scope, TemporalLayer};
pub use unit::{
    Confidence, Intent, MemoryType, MemoryUnit, Mode, Relation, RelationType, Source, UnitStatus,
};
