//! The state of a Field: a pure function of its log, equal on every node and after every restart.

mod agents;
mod conflicts;
mod field_state;
mod messages;
mod names;
mod subscriptions;
mod units;

pub use agents::{AgentEntry, AgentTable};
pub use conflicts::{ConflictEntry, ConflictTable};
pub use field_state::State;
pub use messages::MessageWindow;
pub use names::{Name, Names};
pub use subscriptions::{SubscriptionEntry, SubscriptionTable};
pub use units::{LinkTarget, UnitDetails, UnitFlags, UnitLink, UnitTable};
