//! `quipu move`: all or some Fields from one log to another, with everything that goes with them.

mod beside;
mod command;
mod copy;
mod mark;
mod open_log;

pub(crate) use command::{MoveArgs, move_log};
