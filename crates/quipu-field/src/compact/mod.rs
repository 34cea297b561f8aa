//! Writes the summaries of COMPACT: which units belong together, and what is said of them in their own
//! words. The same units give the same summaries.

pub mod purge;

mod author;
mod brief;
mod fidelity;
mod groups;
mod memo;
mod plan;
mod sources;
mod topics;
mod write;

pub(crate) use fidelity::Survey;
pub(crate) use memo::Memo;
pub(crate) use sources::{Material, positions, written_by_compact};
pub(crate) use write::write;
