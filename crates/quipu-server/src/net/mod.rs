//! Connections: listening, TLS, and what is refused before it is a request.

pub(crate) mod bare_refusal;
pub(crate) mod body;
pub(crate) mod tls;
pub(crate) mod write_limit;
