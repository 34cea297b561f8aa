//! The server as a whole: what all requests share, how it starts and stops.

pub(crate) mod clock;
pub(crate) mod embedded;
pub(crate) mod ids;
pub(crate) mod limits;
pub(crate) mod openapi;
pub(crate) mod server;
pub(crate) mod service;
pub(crate) mod state;
