//! Reading a whole log from an engine and verifying its chain, with threads that read and hash ahead.

mod ahead;
mod chain;

pub use ahead::{Checked, Pace, Prepare, read_ahead};
pub use chain::{verify_chain, verify_headers, verify_prepared};
