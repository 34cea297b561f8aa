//! What a program holds: a Field, an agent in it, the Harn side, and what follows events.

pub(crate) mod agent;
pub(crate) mod event_stream;
pub(crate) mod field;
pub(crate) mod following;
pub(crate) mod harn;
pub(crate) mod harn_events;
pub(crate) mod pushes;
