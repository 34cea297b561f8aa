//! What this protocol writes into the log, and the ids of what is there without being written.

pub(crate) mod artifact_marks;
pub(crate) mod built_in;
pub(crate) mod file_version;
pub(crate) mod live_clients;
pub(crate) mod named_after;
pub(crate) mod note;
pub(crate) mod session_facts;
