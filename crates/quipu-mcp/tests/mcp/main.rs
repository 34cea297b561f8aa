//! The binding as a client meets it: rmcp's own client over a pipe in memory, in both generations of MCP,
//! and behind the handler a Field of a few lines that notes every call.
#![cfg(test)]

mod calling;
mod identity;
mod listing;
mod reading;
mod subscribing;
mod support;
