//! The state of a Field: a pure function of its log, equal on every node and after every restart.

mod agents;
mod conflicts;
mod documents;
mod endings;
mod field_state;
mod handoffs;
mod hints;
mod idempotency;
mod messages;
mod names;
mod recent_traces;
mod sessions;
mod streams;
mod subscriptions;
mod tasks;
mod texts;
mod units;

pub use agents::{AgentEntry, AgentTable};
pub use conflicts::{ConflictEntry, ConflictTable, ResolutionEntry};
pub use documents::{DocumentEntry, DocumentTable};
pub use endings::EndingTable;
pub use field_state::State;
pub use handoffs::{HandoffEntry, HandoffTable};
pub use hints::{HintEntry, HintTable};
pub use idempotency::IdempotencyTable;
pub use messages::MessageWindow;
pub use names::{Name, Names};
pub use recent_traces::RecentTraces;
pub use sessions::{SessionEntry, SessionTable};
pub use streams::{EventAddress, StreamTable, TaskStream};
pub use subscriptions::{SubscriptionEntry, SubscriptionTable};
pub use tasks::{TaskEntry, TaskTable, is_final, is_held, next_status};
pub use texts::TextTable;
pub use units::{LinkTarget, UnitDetails, UnitFlags, UnitLink, UnitTable, is_standing};
