//! One file per operation. A write has `decide` (the rule: state and command to events) and
//! `respond` (events to answer, so that a message sent twice is answered from its commit). A read
//! has a function of its own name.

pub mod attune;
pub mod deregister;
pub mod detect;
pub mod record;
pub mod register;
pub mod subscribe;

mod decide;

pub use decide::{Refusal, admit, decide, is_same_request};
