//! The server as a whole: what all requests share, how it starts and stops.

pub(crate) mod embedded;
mod listener;
pub(crate) mod server;
pub(crate) mod service;
