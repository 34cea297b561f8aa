//! The Field by its rules, through its public handle.
#![cfg(test)]

mod attune;
mod chains;
mod clock;
mod closed_sessions;
mod compact;
mod coordinate;
mod coordination;
mod depot;
mod detect;
mod detect_on_record;
mod enrich;
mod faults;
mod foreseen;
mod handoff;
mod harn;
mod indexing;
mod labelled;
mod large;
mod log_page;
mod membership;
mod merge;
mod narrowing;
mod nodes;
mod past;
mod proofs;
mod purge;
mod ranking;
mod record;
mod record_all;
mod renewing;
mod repeats;
mod replay;
mod replay_words;
mod retract;
#[path = "../../../quipu-recall/tests/sentences/generated.rs"]
mod sentences;
mod session;
mod state_from_log;
mod steady_time;
mod subscribe;
mod support;
mod tracing;
mod unloading;
mod visibility;
mod votes_by_key;
