//! A black-box conformance suite for the Akashik Protocol 0.1.0: it speaks the wire protocol to a
//! URL and says which requirements hold and which level is reached. It knows nothing of any server:
//! no crate of this workspace is a dependency. What the protocol demands without a contract
//! (COORDINATE, SESSION, HANDOFF, push, authority) is tried by the contract that Quipu publishes.
//! Not judged, since no client can bring it about: restarts (L1-1), a second transport (L3-8),
//! failures inside of the Field (REC-11, REC-12, RPL-5, STORAGE_FULL).

mod agent;
mod case;
mod catalogue;
mod check;
mod clock;
mod clock_rules;
mod dispute;
mod envelope;
mod errors;
mod http;
mod ids;
mod limits;
mod look;
mod ops;
mod report;
mod room;
mod rule;
mod runner;
mod security;
mod subscription;
mod target;
mod task;
mod unit;

pub use catalogue::catalogue;
pub use report::{Count, Outcome, Report, Verdict};
pub use rule::{Rule, Strength};
pub use runner::{Unreachable, run};
pub use target::{BadTarget, Binding, BoundKey, Keys, Target};
