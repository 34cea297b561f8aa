//! What the server counts of itself.

pub(crate) mod log_meter;
pub(crate) mod metrics;
