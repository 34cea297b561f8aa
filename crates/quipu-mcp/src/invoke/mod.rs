//! Carries out what a client asked for, in the name of the agent that speaks.

mod identity;
mod invoker;

pub(crate) use identity::Speaker;
pub(crate) use invoker::{InvokeError, Invoker, code_of, refusal_text};
