//! From signals to scores, their reasons, and an order.

pub(crate) mod coverage;
pub mod diversity;
pub mod explain;
pub mod query;
pub mod score;
pub mod weights;
