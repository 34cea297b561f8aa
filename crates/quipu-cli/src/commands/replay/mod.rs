//! `quipu replay`: recorded Tasks again, by somebody's own agent, as a regression test.
//!
//! - `args`: the arguments and the help
//! - `select`: which Tasks
//! - `carry`: one replay, from its making to what came of it
//! - `report`: a line for each, and the JUnit file
//! - `run`: all of them

mod args;
mod carry;
mod report;
mod run;
mod select;

pub(crate) use args::ReplayArgs;
pub(crate) use run::replay;
