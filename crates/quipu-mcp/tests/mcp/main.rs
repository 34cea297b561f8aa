//! The binding as a client sees it: rmcp's own client over a pipe in memory, in both generations of MCP, and behind
//! the handler a small test Field that records every call.
#![cfg(test)]

mod calling;
mod identity;
mod listing;
mod reading;
mod subscribing;
mod support;
