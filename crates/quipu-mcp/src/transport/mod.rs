//! The two transports: streamable HTTP and the standard streams.

mod http;
mod stdio;

pub use http::{Endpoint, EndpointOptions};
pub use stdio::StdioError;
