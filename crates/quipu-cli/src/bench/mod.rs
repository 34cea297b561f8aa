//! `quipu bench`: measures this machine and Quipu on it, seeded, with raw results. Nothing here is
//! asserted: figures are for people, and ratios within one run are worth more than absolutes.

mod args;
mod attune;
mod child;
mod cluster;
mod cluster_baseline;
mod cluster_catch_up;
mod cluster_lag;
mod cluster_meters;
mod cluster_servers;
mod compact;
mod corpus;
mod dataset;
mod detect;
mod detect_corpus;
mod detect_pairs;
mod detect_stages;
mod engine;
mod fields;
mod growth;
mod http;
mod listeners;
mod mcp;
mod memory;
mod module_replay;
mod open;
mod probe;
mod recall;
mod recall_figures;
mod recall_play;
mod record;
mod replay;
mod report;
mod stopwatch;
mod subscribe;
mod task_replay;
mod workplace;

pub(crate) use args::{BenchArgs, run};
