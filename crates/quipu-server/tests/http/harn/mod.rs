//! The Harn Agents Protocol as a client meets it, over sockets alone.

mod actors;
mod callers;
mod discovery;
mod entrance;
mod events;
mod memories;
mod permissions;
mod probes;
mod probes_tokens;
mod provider;
mod refusals;
mod run;
mod sessions;
mod sockets;
mod task_calls;
mod tasks;
mod token_keys;
mod tokens;
mod working;

pub(crate) use callers::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
