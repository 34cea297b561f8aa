//! A module in a process of its own: what the two sides say to each other, each in frames over a pair of pipes. The
//! side that serves is `quipu module-runner`, the side that asks is a server. Starts no process and sets no limit.

mod client;
mod frame;
mod messages;
mod server;

#[cfg(test)]
mod tests;

pub use client::{Lost, Remote};
pub use server::serve;
