//! `/mcp` as a client meets it: messages of both generations over a socket.

mod client;
mod entering;
mod limits;
mod operating;
mod telling;

use client::{Mcp, VERSION_NEW, VERSION_OLD, finding};
