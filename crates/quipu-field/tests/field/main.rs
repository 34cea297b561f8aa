//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod clock;
mod compact;
mod coordinate;
mod coordination;
mod detect;
mod enrich;
mod faults;
mod handoff;
mod log_page;
mod membership;
mod merge;
mod past;
mod purge;
mod record;
mod repeats;
mod replay;
mod retract;
mod session;
mod state_from_log;
mod subscribe;
mod support;
mod tracing;
mod visibility;
