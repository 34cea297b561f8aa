//! The Harn Agents Protocol as a client meets it, over sockets alone.

mod callers;
mod discovery;
mod entrance;
mod probes;
mod probes_tokens;
mod provider;
mod refusals;
mod run;
mod token_keys;
mod tokens;

pub(crate) use callers::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
