//! What this protocol writes into the log, and the ids of what is there without being written.

pub(crate) mod built_in;
pub(crate) mod session_facts;
