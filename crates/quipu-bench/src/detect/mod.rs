//! How many contradictions detection finds, and how many alarms are false.

pub(crate) mod corpus;
pub(crate) mod pairs;
pub(crate) mod run;
pub(crate) mod stages;
