//! `/mcp` as a client meets it: messages of both generations over a socket.

mod client;
mod entering;
mod limits;
mod operating;
mod telling;

pub(crate) use client::{Mcp, VERSION_NEW};
use client::{VERSION_OLD, finding};
