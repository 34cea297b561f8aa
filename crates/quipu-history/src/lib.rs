//! Records what clients observe of several nodes over HTTP, and judges whether one log can explain it. It knows the
//! wire and nothing of how a server works: its model of a Field is written independently, so a mistake would have to
//! be made twice to stay unnoticed.
//!
//! There are two judges. [`judge`] compares every answer with the log that the nodes end with. [`explain`] needs no
//! log: it searches for any order of the operations on one thing that explains their answers.

mod clock;
mod event;
mod http;
mod judge;
mod load;

pub use clock::Clock;
pub use event::{
    Answer, Done, Event, INITIAL_VALUE, Member, Observed, ObservedDocument, ObservedUnit, Outcome,
    Read, Request, Write,
};
pub use judge::log::{Entry, Fact};
pub use judge::objects::explain;
pub use judge::verdict::{Verdict, judge};
pub use judge::violation::Violation;
pub use load::dice::Dice;
pub use load::faults::{Fault, FaultPlan};
pub use load::trial::{Trial, TrialReport};
pub use load::workload::Workload;
