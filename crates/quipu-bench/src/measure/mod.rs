//! What every benchmark measures with: a server to measure, texts, a stopwatch, the report.

pub(crate) mod corpus;
pub(crate) mod dataset;
pub(crate) mod failure;
pub(crate) mod http;
pub(crate) mod listeners;
pub(crate) mod memory;
pub(crate) mod program;
pub(crate) mod report;
pub(crate) mod server;
pub(crate) mod stopwatch;
pub(crate) mod workplace;
