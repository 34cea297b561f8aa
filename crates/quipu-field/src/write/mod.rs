//! The one way into the log: the writer, the clock, and what makes its commits visible.

pub mod clock;
pub(crate) mod following;
pub(crate) mod publication;
pub(crate) mod shared;
pub(crate) mod task_moves;
pub(crate) mod writer;
