//! A black-box conformance suite for the Akashik Protocol 0.1.0: it speaks the wire protocol to a URL and reports
//! which requirements hold and which level is reached. It knows nothing about any server: no crate of this workspace
//! is a dependency. Where the protocol demands something without a contract (COORDINATE, SESSION, HANDOFF, push,
//! authority), the suite tests the contract that Quipu publishes. Requirements that no client can provoke are not
//! judged: restarts (L1-1), a second transport (L3-8), failures inside the Field (REC-11, REC-12, RPL-5,
//! STORAGE_FULL).

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
