//! The handle of a Field, how it is opened and closed, and the Fields of a server.

pub(crate) mod close;
pub(crate) mod enrich_later;
pub(crate) mod fields;
pub(crate) mod follow;
mod handle;
pub(crate) mod index_later;
pub(crate) mod options;
mod reading;
mod submit;
pub(crate) mod unload;

pub use handle::Field;
