//! The HTTP surface as a client meets it: a server in this process on a free port, spoken to over
//! sockets. What the operations mean is tested where their rules are.
#![cfg(test)]

mod attuning;
mod authentication;
mod authority;
mod bodies;
mod console;
mod coordination;
mod document;
mod document_tools;
mod embedded;
mod fields;
mod harn;
mod heartbeat;
mod history;
mod keys;
mod mcp;
mod messages;
mod names;
mod nodes;
mod observing;
mod page_bytes;
mod push;
mod recording_many;
mod revoking;
mod routes;
mod settling;
mod shared_keys;
mod shares;
mod shutdown;
mod support;
mod throttling;
mod tls;
mod unloading;
