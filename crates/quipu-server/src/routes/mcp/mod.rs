//! MCP at `/mcp`: keys, sizes and origins are checked here as everywhere, then `quipu-mcp` speaks the
//! protocol, and what it is asked to do comes back in through the same routes that everybody uses.

mod caller;
mod front;
mod held_stream;
mod sessions;

pub(crate) use front::{PATH, entrance};
