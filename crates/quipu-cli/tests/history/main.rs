//! Histories of clients of three `quipu serve` processes over one log, on real PostgreSQL and NATS servers, while nodes
//! and servers are killed and ways are cut: one log must explain everything that anybody was told (`quipu-history`).
//!
//! `QUIPU_HISTORY_RUNS=200` makes more runs than the usual few, `QUIPU_HISTORY_SEED=1000007` makes one run alone.

#![cfg(test)]

mod disturbing;
mod runs;
mod tally;

use quipu_testbed::EngineKind;

#[test]
fn histories_over_postgres_are_explained_by_one_log() {
    runs::all(EngineKind::Postgres, 1_000_000, "histories_over_postgres");
}

#[test]
fn histories_over_nats_are_explained_by_one_log() {
    runs::all(EngineKind::Nats, 2_000_000, "histories_over_nats");
}
