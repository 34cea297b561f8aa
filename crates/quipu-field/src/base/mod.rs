//! What every room of this crate stands on: limits, failures, health, what is counted, which models are asked.

pub(crate) mod asker;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod health;
pub mod limits;
pub(crate) mod meter;
pub(crate) mod models;
pub(crate) mod steady;
pub(crate) mod system_origin;
pub(crate) mod turns;
pub(crate) mod unavailable;
