//! How a request reaches a server: addresses, connections, retries, or a server inside this process.

pub(crate) mod address;
pub(crate) mod embedded;
pub(crate) mod http;
pub(crate) mod nodes;
pub(crate) mod path;
pub(crate) mod retry;
pub(crate) mod sse;
pub(crate) mod transport;
