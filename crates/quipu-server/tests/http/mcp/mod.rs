//! `/mcp` as a client meets it: messages of both generations over a socket.

mod client;
mod entering;
mod limits;
mod operating;
mod telling;

use serde_json::Value;

use crate::support::committed;
use client::{Mcp, VERSION_NEW, VERSION_OLD};

/// The arguments of a RECORD that is right.
fn finding() -> Value {
    committed("The harbour raised its fees.")
}
