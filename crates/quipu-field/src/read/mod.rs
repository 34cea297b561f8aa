//! Answers from the published state and the texts in the log.

pub(crate) mod attune;
pub(crate) mod bodies;
pub(crate) mod decoded;
pub(crate) mod replay;
pub(crate) mod unit_words;
pub mod view;
