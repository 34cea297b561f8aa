//! The Akashik Protocol 0.1.0: one file per operation, one per type that operations share.

mod agent;
mod attune;
mod capabilities;
mod compact;
mod conflict;
mod coordinate;
mod deregister;
mod detect;
mod envelope;
mod fidelity;
mod field_status;
mod handoff;
mod least_authority;
mod log_page;
mod merge;
mod record;
mod register;
mod replay;
mod restore;
mod retract;
mod scope;
mod session;
mod subscribe;
mod unit;
mod unit_list;

pub use crate::operation::Operation;
pub use agent::{Agent, AgentList, AgentStatus};
pub use attune::{
    AttunePayload, AttuneResponse, ContextBudget, Explanation, FactorExplanation, Format,
    ScopedMemoryUnit, UnitView,
};
pub use capabilities::FieldCapabilities;
pub use compact::{
    CompactFilter, CompactPayload, CompactResponse, CompactStrategy, ForeseenSynthesis,
};
pub use conflict::{
    Conflict, ConflictList, ConflictStatus, ConflictStrategy, ConflictType, DetectedBy, Resolution,
};
pub use coordinate::{
    CoordinatePayload, CoordinateResponse, Task, TaskAction, TaskDraft, TaskFilter, TaskIntent,
    TaskStatus,
};
pub use deregister::{Cleanup, DeregisterPayload, DeregisterResponse, DeregisterStatus};
pub use detect::{DetectFilter, DetectMode, DetectPayload, DetectResponse, ScanCoverage};
pub use envelope::{Envelope, is_envelope};
pub use fidelity::{Fidelity, Kept};
pub use field_status::{Counts, FieldStatus};
pub use handoff::{
    Handoff, HandoffAction, HandoffContext, HandoffPayload, HandoffResponse, HandoffStatus,
};
pub use least_authority::{
    LeastAuthorityChange, LeastAuthorityPayload, LeastAuthorityRow, LeastAuthorityTable,
};
pub use log_page::{LogEntry, LogHead, LogPage};
pub use merge::{
    BALLOT_AUTHORITY, MERGE_AUTHORITY, MergePayload, MergeResolution, MergeResponse, MergeStatus,
    SideEffects, VoteTally,
};
pub use record::{
    ConflictDetection, RecordPayload, RecordResponse, RecordStatus, RecordsPayload,
    RecordsResponse, UnitWarnings,
};
pub use register::{RegisterPayload, RegisterResponse, RegisterStatus};
pub use replay::{
    ReplayAttune, ReplayDepth, ReplayEvent, ReplayLinks, ReplayPayload, ReplayReasons,
    ReplayResponse, ReplayTarget, ReplayWithout, ShownUnit,
};
pub use restore::{RestorePayload, RestoreResponse, RestoredFrom, RestoredUnit};
pub use retract::{RetractIntent, RetractPayload, RetractResponse};
pub use scope::{Scope, TemporalLayer, Tokenizer};
pub use session::{
    JoinRule, Session, SessionAction, SessionDraft, SessionPayload, SessionPolicy, SessionResponse,
    SessionStatus, VisibilityRule,
};
pub use subscribe::{
    PushNotification, SubscribeAction, SubscribePayload, SubscribeResponse, SubscribeStatus,
    Subscription, SubscriptionEvent, SubscriptionRequest,
};
pub use unit::{
    Confidence, Intent, MemoryType, MemoryUnit, Mode, Relation, RelationType, Source, UnitStatus,
};
pub use unit_list::{UnitList, UnitOrder, UnitQuery};
