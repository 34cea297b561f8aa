//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod clock;
mod detect;
mod faults;
mod log_page;
mod membership;
mod merge;
mod record;
mod retract;
mod state_from_log;
mod support;
