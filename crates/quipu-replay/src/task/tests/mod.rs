//! Recordings of our own making, replayed in every mode, and everything that can be missing from them.

mod admission;
mod engine;
mod oracle;
mod properties;
pub(crate) mod recordings;
