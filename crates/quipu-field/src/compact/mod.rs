//! Writes the summaries of COMPACT: which units belong together, and what is said of them in their own
//! words. The same units give the same summaries.

pub mod purge;

mod author;
mod groups;
mod memo;
mod topics;
mod write;

pub(crate) use memo::Memo;
pub(crate) use write::{sources, write};
