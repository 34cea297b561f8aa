//! The handle of this side, and what all its methods share.

pub(crate) mod caller;
pub(crate) mod counts;
pub(crate) mod failure;
pub(crate) mod harness;
pub(crate) mod options;
pub(crate) mod page;
pub(crate) mod resting;
pub(crate) mod write;
