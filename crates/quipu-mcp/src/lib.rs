//! The MCP binding: the protocol's operations as tools, memory as resources, good habits as prompts.
//! Speaks both generations of MCP by way of `rmcp`, and knows no Field and no storage: whatever it is
//! asked becomes HTTP-shaped calls to a [`Caller`].

mod caller;
mod feed;
mod handler;
mod http;
mod identity;
mod invoke;
mod prompts;
mod push_reader;
mod resources;
mod schema;
mod stdio;
mod subscriptions;
mod tools;
mod uri;

pub use caller::{Answer, Call, CallFailed, Caller, Presented, PushPlace, Verb};
pub use handler::{Handler, HandlerOptions};
pub use http::{Endpoint, EndpointOptions};
pub use push_reader::PushReader;
pub use stdio::StdioError;
