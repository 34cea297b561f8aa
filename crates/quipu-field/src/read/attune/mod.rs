//! ATTUNE: which units an agent is given, and why.

pub(crate) mod answer;
pub(crate) mod budget;
pub(crate) mod explain;
pub(crate) mod extract;
pub(crate) mod filter;
pub(crate) mod query;
pub(crate) mod rank;
pub(crate) mod roles;
pub(crate) mod similarity;
