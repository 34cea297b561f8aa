//! The tools: one file for each operation, with what a model is told about it and how its answer reads.

mod attune;
mod compact;
mod coordinate;
mod deregister;
mod detect;
mod handoff;
mod merge;
mod record;
mod register;
mod replay;
mod session;
mod table;
mod telling;
mod tool;

pub(crate) use replay::tell as replay;
pub(crate) use table::Table;
pub(crate) use telling::{conflict, unit};
pub(crate) use tool::{AgentArgument, OwnTool};
