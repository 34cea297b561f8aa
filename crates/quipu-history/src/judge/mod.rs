//! Decides whether one log can explain all answers that the clients received.

pub(crate) mod bounds;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod objects;
pub(crate) mod reads;
pub(crate) mod refusals;
pub(crate) mod search;
pub(crate) mod shrink;
pub(crate) mod verdict;
pub(crate) mod violation;
pub(crate) mod writes;
