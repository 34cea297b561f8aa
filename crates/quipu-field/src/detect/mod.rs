//! Looking for units that disagree, away from the writer: with a RECORD where there is time for it, in
//! the background otherwise, and for DETECT. What is found is an observation; the rules of RECORD
//! and DETECT in quipu-core decide what follows from it.

mod backlog;
mod busy;
mod lookout;
mod options;
mod worker;

pub(crate) use backlog::Waiting;
pub(crate) use lookout::{Detected, Lookout, Subject};
pub use options::DetectionOptions;
pub(crate) use worker::run;
