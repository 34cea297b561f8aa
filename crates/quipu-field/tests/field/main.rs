//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod clock;
mod coordinate;
mod coordination;
mod handoff;
mod membership;
mod record;
mod session;
mod state_from_log;
mod support;
mod visibility;
