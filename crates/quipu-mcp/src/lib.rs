//! The MCP binding: the protocol's operations as tools, memory as resources, good habits as prompts.
//! Speaks both generations of MCP by way of `rmcp`, and knows no Field and no storage: whatever it is
//! asked becomes HTTP-shaped calls to a [`Caller`].

mod caller;
mod handler;
mod invoke;
mod prompts;
mod push;
mod resources;
mod shared;
mod tools;
mod transport;
mod uri;

pub use caller::{Answer, Call, CallFailed, Caller, Presented, PushPlace, Verb};
pub use handler::Handler;
pub use push::PushReader;
pub use shared::HandlerOptions;
pub use transport::{Endpoint, EndpointOptions, StdioError};
