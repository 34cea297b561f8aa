//! The MCP binding: the operations as tools, memory as resources, and two prompts for good habits. Speaks both
//! generations of MCP through `rmcp`. Knows no Field and no storage: every request becomes calls to a [`Caller`] in
//! the shape of HTTP requests.

mod caller;
mod definitions;
mod handler;
mod invoke;
mod prompts;
mod push;
mod resources;
mod shared;
mod tools;
mod transport;
mod uri;

pub use caller::{Answer, Call, CallFailed, Caller, Presented, PushPosition, Verb};
pub use definitions::{Definition, definitions};
pub use handler::Handler;
pub use push::PushReader;
pub use shared::HandlerOptions;
pub use transport::{Endpoint, EndpointOptions, StdioError};
