//! Black-box tests of the `quipu` binary: they start it, speak HTTP to it, kill it, damage its files,
//! and look at nothing but what it answers, prints and leaves on disk. One binary for all of them,
//! so that they are linked once.

#![cfg(test)]

mod bad_input;
mod bench_peers;
mod client_commands;
mod client_crashes;
mod closed_doors;
mod cluster_examples;
mod conformance;
mod console;
mod data_directory;
mod durability;
#[cfg(target_os = "linux")]
mod faults;
mod golden_vectors;
mod keys;
mod mcp;
mod mcp_clients;
mod models;
mod moving;
mod mutants;
mod old_directory;
mod pages;
mod proofs;
mod purging;
mod python_sdk;
mod readme;
mod receipts;
mod replaying;
mod resuming_crashes;
mod schema;
mod seed_pages;
mod shared_keys;
mod starting;
mod summarizing;
mod support;
mod task_crashes;
mod why;
