//! The Harn Agents Protocol as a client meets it, over sockets alone.

mod actors;
mod artifacts;
mod callers;
mod connectors;
mod copied_sessions;
mod discovery;
mod entrance;
mod events;
mod live_clients;
mod memories;
mod modules;
mod official_clients;
mod permissions;
mod privacy;
mod probes;
mod probes_resources;
mod probes_tokens;
mod provider;
mod receipts;
mod refusals;
mod run;
mod session_inputs;
mod session_owners;
mod sessions;
mod sockets;
pub(crate) mod task_calls;
mod tasks;
mod token_keys;
mod tokens;
mod tools;
mod worker;
mod working;
mod workspace_files;

pub(crate) use callers::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
