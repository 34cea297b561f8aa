//! Broken input for everything that reads what somebody else wrote: each target takes any bytes and must neither panic
//! nor take long, and what it accepts must come out as it went in. Inputs are mutated from a saved corpus by a seeded
//! generator, so that a run can be repeated; there is no instrumentation, and so no special toolchain.
//!
//! The corpus of a target is `corpus/<target>/`. What once made a target fail is kept there as `crash-…`.

mod corpus;
mod dice;
mod hunt;
mod mutation;
mod target;
mod targets;

pub use corpus::Corpus;
pub use hunt::{Crash, Hunt, Tally, hunt, silence_panics, try_one};
pub use target::{TARGETS, Target};
