//! The Akashik Protocol 0.1.0: one file per operation, one per type that operations share.

mod agent;
mod attune;
mod capabilities;
mod conflict;
mod deregister;
mod detect;
mod envelope;
mod field_status;
mod operation;
mod record;
mod register;
mod scope;
mod subscribe;
mod unit;
mod words;

pub use agent::{Agent, AgentList, AgentStatus};
pub use attune::{
    AttunePayload, AttuneResponse, ContextBudget, Explanation, FactorExplanation, Format,
    ScopedMemoryUnit, UnitView,
};
pub use capabilities::FieldCapabilities;
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
pub use scope::{Scope, TemporalLayer};
pub use subscribe::{
    PushNotification, SubscribeAction, SubscribePayload, SubscribeResponse, SubscribeStatus,
    Subscription, SubscriptionEvent, SubscriptionRequest,
};
pub use unit::{
    Confidence, Intent, MemoryType, MemoryUnit, Mode, Relation, RelationType, Source, UnitStatus,
};
