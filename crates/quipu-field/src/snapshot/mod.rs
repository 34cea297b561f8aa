//! Opening a Field without reading its whole log, and views of its past.

pub(crate) mod depot;
mod depot_queue;
pub mod format;
pub(crate) mod past;
pub(crate) mod renew;
pub mod restore;
pub(crate) mod schedule;
pub(crate) mod store;
