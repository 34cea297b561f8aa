//! What a command shows a person: output, progress, log lines, failures.

pub(crate) mod failure;
pub(crate) mod logging;
pub(crate) mod output;
pub(crate) mod progress;
