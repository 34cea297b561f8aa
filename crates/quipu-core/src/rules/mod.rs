//! One file per operation. A write has `decide` (the rule: state and command to events) and
//! `respond` (events to answer, so that a message sent twice is answered from its commit). A read
//! has a function of its own name.

pub mod attune;
pub mod compact;
pub mod coordinate;
pub mod deregister;
pub mod detect;
pub mod enrich;
pub mod folding;
pub mod handoff;
pub mod harn;
pub mod least_authority;
pub mod merge;
pub mod record;
pub mod register;
pub mod replay;
pub mod restore;
pub mod retract;
pub mod session;
pub mod subscribe;
pub mod trace;
pub mod type_authority;

mod command;
mod decide;
mod narrowing;
mod pending_status;
mod policies;
mod replacing;
mod same_text;
mod task_events;

pub use command::{Action, Command};
pub use decide::{Decision, Refusal, admit, decide, is_same_request, may_borrow};
use same_text::same_text;
