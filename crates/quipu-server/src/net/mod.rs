//! Connections: listening, TLS, and what is refused before it is a request.

pub(crate) mod bare_refusal;
pub(crate) mod body;
pub(crate) mod handles;
pub(crate) mod hosts;
pub(crate) mod rooms;
pub(crate) mod tls;
pub(crate) mod visits;
pub(crate) mod write_limit;
