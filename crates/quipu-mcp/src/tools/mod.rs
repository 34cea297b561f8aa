//! The tools: one file for each operation, with the description for the model and the text of the answer.

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
mod schema;
mod session;
mod table;
mod text;
mod tool;

pub(crate) use replay::describe as replay_text;
pub(crate) use table::Table;
pub(crate) use text::{WHAT_QUOTES_MEAN, conflict_text, unit_text};
pub(crate) use tool::{AgentArgument, OperationTool};
