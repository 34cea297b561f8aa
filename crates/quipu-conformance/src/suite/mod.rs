//! The list of cases, how they run, and the report.

pub(crate) mod catalogue;
pub(crate) mod report;
pub(crate) mod runner;
