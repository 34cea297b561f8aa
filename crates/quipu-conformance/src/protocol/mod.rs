//! Cases about what all operations have in common: envelopes, the clock, errors.

pub(crate) mod clock_rules;
pub(crate) mod envelope;
pub(crate) mod errors;
