//! Records what clients saw of several nodes over HTTP, and judges whether one log can explain it. Knows the wire and
//! nothing of how a server works: its model of a Field is one of its own, so that a mistake would have to be made twice.
//!
//! There are two judges. [`judge`] takes the log that the nodes end with as a witness and holds every answer against it.
//! [`explain`] asks for no witness: it looks for any order of a few operations on one thing that explains their answers.

mod ask;
mod board;
mod bounds;
mod client;
mod clock;
mod dice;
mod event;
mod faults;
mod http;
mod judge;
mod log;
mod model;
mod objects;
mod reads;
mod refusals;
mod search;
mod settle;
mod shrink;
mod trial;
mod violation;
mod workload;
mod writes;

pub use clock::Clock;
pub use dice::Dice;
pub use event::{
    Answer, Done, Event, FIRST, Member, Outcome, Read, Request, Seen, SeenDocument, SeenUnit, Write,
};
pub use faults::{Fault, FaultPlan};
pub use judge::{Verdict, judge};
pub use log::{Entry, Fact};
pub use objects::explain;
pub use trial::{Trial, TrialReport};
pub use violation::Violation;
pub use workload::Workload;
