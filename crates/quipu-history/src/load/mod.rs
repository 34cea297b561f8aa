//! The load: clients that use several nodes at once while faults disturb them.

pub(crate) mod board;
pub(crate) mod client;
pub(crate) mod dice;
pub(crate) mod faults;
pub(crate) mod settle;
pub(crate) mod trial;
pub(crate) mod wire;
pub(crate) mod workload;
