//! The Harn Agents Protocol as a client meets it, over sockets alone.

mod actors;
mod callers;
mod discovery;
mod entrance;
mod memories;
mod permissions;
mod refusals;
mod sessions;

pub(crate) use callers::{APRIL, OCTOBER, VERSION, bearer, refusal, refused, stranger};
