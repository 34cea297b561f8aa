//! The handle of this side, and what all its methods share: who asks, pages, errors, writes.

pub(crate) mod caller;
pub(crate) mod failure;
pub(crate) mod given_inputs;
pub(crate) mod harness;
pub(crate) mod held_secrets;
pub(crate) mod options;
pub(crate) mod page;
pub(crate) mod replayed_cache;
pub(crate) mod resting;
pub(crate) mod retry;
pub(crate) mod sealing;
pub(crate) mod write;
