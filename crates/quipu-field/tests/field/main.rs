//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod clock;
mod compact;
mod membership;
mod purge;
mod record;
mod replay;
mod state_from_log;
mod support;
