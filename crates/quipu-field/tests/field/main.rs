//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod clock;
mod membership;
mod record;
mod state_from_log;
mod subscribe;
mod support;
