//! The two ways in: streamable HTTP and the standard streams.

mod http;
mod stdio;

pub use http::{Endpoint, EndpointOptions};
pub use stdio::StdioError;
