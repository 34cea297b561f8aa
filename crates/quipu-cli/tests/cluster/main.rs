//! Several `quipu serve` processes over one log, on real PostgreSQL and NATS servers: what clients of such a cluster
//! may rely on, and what happens when something of it fails. Each test has servers of its own and goes through
//! several things, each in a Field of its own, because starting servers takes longer than most of them.

#![cfg(test)]

mod support;

mod beginning;
mod clocks;
mod conforming;
mod coordinating;
mod cutting;
mod distrusting;
mod filling;
mod harn;
mod killing;
mod sharing;
mod upgrading;
