//! The Harn Agents Protocol as a client meets it, over sockets alone.

mod callers;
mod discovery;
mod entrance;
mod provider;
mod refusals;
mod token_keys;
mod tokens;

pub(crate) use callers::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
