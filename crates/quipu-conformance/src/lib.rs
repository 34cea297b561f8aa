//! A black-box conformance suite for the Akashik Protocol 0.1.0: it speaks the wire protocol to a
//! URL and says which requirements hold and which level is reached. It knows nothing of any server:
//! no crate of this workspace is a dependency. What the protocol demands without a contract
//! (COORDINATE, SESSION, HANDOFF, push, authority) is tried by the contract that Quipu publishes.
//! Not judged, since no client can bring it about: restarts (L1-1), a second transport (L3-8),
//! failures inside of the Field (REC-11, REC-12, RPL-5, STORAGE_FULL).

mod actors;
mod clock;
mod http;
mod limits;
mod ops;
mod protocol;
mod rule;
mod security;
mod suite;

pub use actors::target::{BadTarget, Binding, BoundKey, Keys, Target};
pub use rule::{Rule, Strength};
pub use suite::catalogue::catalogue;
pub use suite::report::{Count, Outcome, Report, Verdict};
pub use suite::runner::{Unreachable, run};
